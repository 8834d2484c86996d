import type {
  ChatContent,
  FilledButton,
  FilledHeader,
  FilledTemplate,
  FilledVariable,
} from '../../../shared/messages/document/chat-message.ts';
import { productSections } from './interactive-payload.ts';

type TemplateContent = Extract<ChatContent, { readonly kind: 'template' }>;

/**
 * The `template` member of a send (WhatsApp Cloud API, "Template components"). Components come in the order header, body, offer,
 * buttons, cards. A component without values is left out. Pure.
 */
export function templateOf({ name, language, params, filled }: TemplateContent): object {
  const components = componentsOf(filled ?? onlyBody(params));
  return {
    name,
    language: { code: language, policy: 'deterministic' },
    // A template without values must have no components, not empty ones.
    ...(components.length === 0 ? {} : { components }),
  };
}

function componentsOf({ header, body, buttons = [], offerExpiresAt, cards }: FilledTemplate): readonly object[] {
  return [
    ...(header === undefined ? [] : [{ type: 'header', parameters: headerParameters(header) }]),
    ...(body === undefined ? [] : [{ type: 'body', parameters: body.map(textParameter) }]),
    ...(offerExpiresAt === undefined ? [] : [offerComponent(offerExpiresAt)]),
    ...buttons.map(buttonComponent),
    ...(cards === undefined ? [] : [{ type: 'carousel', cards: cards.map(cardOf) }]),
  ];
}

/** A card without values has no components ("Media card carousel templates"). */
function cardOf(card: FilledTemplate, index: number): object {
  return { card_index: index, components: componentsOf(card) };
}

function offerComponent(expiresAt: Date): object {
  const offer = { expiration_time_ms: expiresAt.getTime() };
  return { type: 'limited_time_offer', parameters: [{ type: 'limited_time_offer', limited_time_offer: offer }] };
}

function onlyBody(params: readonly string[]): FilledTemplate {
  return params.length === 0 ? {} : { body: params.map((text) => ({ text })) };
}

function headerParameters(header: FilledHeader): readonly object[] {
  switch (header.kind) {
    case 'text':
      return header.variables.map(textParameter);
    case 'image':
    case 'video':
      return [{ type: header.kind, [header.kind]: { link: header.url } }];
    case 'document':
      return [{ type: 'document', document: { link: header.url, filename: header.filename } }];
    case 'product': {
      const { product, catalog } = header;
      return [{ type: 'product', product: { product_retailer_id: product, catalog_id: catalog } }];
    }
    case 'location': {
      const { latitude, longitude, name, address } = header;
      return [{ type: 'location', location: { latitude, longitude, name, address } }];
    }
  }
}

function textParameter({ text, name }: FilledVariable): object {
  return { type: 'text', ...(name === undefined ? {} : { parameter_name: name }), text };
}

/** The provider takes indexes as strings and as numbers; most of its samples have strings. */
function buttonComponent(button: FilledButton): object {
  return {
    type: 'button',
    sub_type: button.kind,
    index: String(button.index),
    parameters: [buttonParameter(button)],
  };
}

function buttonParameter(button: FilledButton): object {
  switch (button.kind) {
    case 'quick_reply':
      return { type: 'payload', payload: button.payload };
    case 'url':
      return textParameter(button.suffix);
    case 'copy_code':
      return { type: 'coupon_code', coupon_code: button.code };
    case 'flow':
      // "unused" is the provider's word for a flow that needs no token of its own (WhatsApp Flows, "Sending a Flow").
      return { type: 'action', action: { flow_token: 'unused' } };
    case 'catalog':
      return { type: 'action', action: { thumbnail_product_retailer_id: button.product } };
    case 'mpm': {
      const sections = productSections(button.sections);
      return { type: 'action', action: { thumbnail_product_retailer_id: button.product, sections } };
    }
  }
}
