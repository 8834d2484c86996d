import {
  type ChatContent,
  type ChatMessageDocument,
  type FilledButton,
  type FilledHeader,
  type FilledTemplate,
  type FilledVariable,
  type Flow,
  type FrameHeader,
  fileNameOf,
  type ListSection,
  type Place,
  type ProductSection,
} from '../../../shared/messages/document/chat-message.ts';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';

/**
 * The JSON of one send (WhatsApp Cloud API, "Messages": `POST /{version}/{phone_number_id}/messages`).
 * `biz_opaque_callback_data` carries our message id: statuses repeat it, so a send whose answer never came can be
 * settled. `to`: digits with the country code, or a user id.
 */
export function sendPayload({
  _id,
  to,
  content,
  replyTo,
}: Pick<ChatMessageDocument, '_id' | 'to' | 'content' | 'replyTo'>): Buffer {
  return Buffer.from(
    JSON.stringify({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      ...addressOf(to),
      ...(replyTo === undefined ? {} : { context: { message_id: replyTo.upstreamId } }),
      ...bodyOf(content),
      biz_opaque_callback_data: _id,
    }),
  );
}

/**
 * A number needs the plus sign: without it the provider prepends the business's country code, and the message may reach
 * a stranger ("WhatsApp user phone number formats"). A user id is a `recipient`: in `to` it is accepted, and lost.
 */
function addressOf(to: string): object {
  return isCustomerUserId(to) ? { recipient: to } : { to: `+${to}` };
}

function bodyOf(content: ChatContent): object {
  switch (content.kind) {
    case 'text':
      return { type: 'text', text: { body: content.text, preview_url: false } };
    case 'template':
      return { type: 'template', template: templateOf(content) };
    case 'media':
      return {
        type: content.type,
        [content.type]: {
          link: content.url,
          // Without a name the customer sees "Untitled".
          ...(content.type === 'document' ? { filename: fileNameOf(content.url) } : {}),
          ...(content.caption === undefined ? {} : { caption: content.caption }),
        },
      };
    case 'buttons':
    case 'interactive':
      return { type: 'interactive', interactive: interactiveOf(content) };
    case 'location':
      return { type: 'location', location: locationOf(content.location) };
    case 'contacts':
      return { type: 'contacts', contacts: content.contacts };
    case 'reaction':
      return { type: 'reaction', reaction: { message_id: content.reactsTo.upstreamId, emoji: content.emoji } };
  }
}

/** Degrees are strings, as in the samples of "Location messages"; its reference has numbers, and both are taken. */
function locationOf({ latitude, longitude, name, address }: Place): object {
  return { latitude, longitude, name, address };
}

type TemplateContent = Extract<ChatContent, { readonly kind: 'template' }>;

/** WhatsApp Cloud API, "Template components": in this order, without components that have no values. Pure. */
function templateOf({ name, language, params, filled }: TemplateContent): object {
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

type Interactive = Extract<ChatContent, { readonly kind: 'buttons' | 'interactive' }>;

/**
 * The `interactive` member of a send (WhatsApp Cloud API: "Interactive reply buttons messages", "Interactive list
 * messages", "Interactive Call-to-Action URL Button Messages", "Location request messages", "Request contact info",
 * "Sending a Flow", "Product messages"). Pure.
 */
function interactiveOf(content: Interactive): object {
  const { body, header, footer } = content;
  return {
    type: typeOf(content),
    header: header && headerOf(header),
    body: body === undefined ? undefined : { text: body },
    footer: footer === undefined ? undefined : { text: footer },
    action: actionOf(content),
  };
}

function typeOf(content: Interactive): string {
  if (content.kind === 'buttons') return 'button';
  switch (content.type) {
    case 'url':
      return 'cta_url';
    case 'location_request':
      return 'location_request_message';
    case 'contact_request':
      return 'request_contact_info';
    case 'catalog':
      return 'catalog_message';
    default:
      return content.type;
  }
}

function headerOf(header: FrameHeader): object {
  switch (header.kind) {
    case 'text':
      return { type: 'text', text: header.text };
    case 'image':
    case 'video':
      return { type: header.kind, [header.kind]: { link: header.url } };
    case 'document':
      return { type: 'document', document: { link: header.url, filename: header.filename } };
  }
}

function actionOf(content: Interactive): object {
  if (content.kind === 'buttons') {
    return { buttons: content.buttons.map(({ id, title }) => ({ type: 'reply', reply: { id, title } })) };
  }
  switch (content.type) {
    case 'list':
      return { button: content.action.button, sections: content.action.sections.map(listSection) };
    case 'url':
      return { name: 'cta_url', parameters: { display_text: content.action.button, url: content.action.url } };
    case 'flow':
      return { name: 'flow', parameters: { ...flowOf(content.action), flow_cta: content.action.button } };
    case 'location_request':
      return { name: 'send_location' };
    case 'contact_request':
      return { name: 'request_contact_info' };
    case 'product':
      return { catalog_id: content.action.catalog, product_retailer_id: content.action.product };
    case 'product_list':
      return { catalog_id: content.action.catalog, sections: productSections(content.action.sections) };
    case 'catalog': {
      const { product } = content.action;
      const parameters = product === undefined ? {} : { parameters: { thumbnail_product_retailer_id: product } };
      return { name: 'catalog_message', ...parameters };
    }
  }
}

function listSection({ title, rows }: ListSection): object {
  return { title, rows: rows.map(({ id, title: label, description }) => ({ id, title: label, description })) };
}

function productSections(sections: readonly ProductSection[]): readonly object[] {
  return sections.map(({ title, products }) => ({
    title,
    product_items: products.map((product) => ({ product_retailer_id: product })),
  }));
}

function flowOf({ flow, token, screen, data, asksServer, draft }: Flow): object {
  const shown = { ...(screen !== undefined && { screen }), ...(data !== undefined && { data }) };
  return {
    flow_message_version: '3',
    ...('id' in flow ? { flow_id: flow.id } : { flow_name: flow.name }),
    // The same default as for a flow button of a template.
    flow_token: token ?? 'unused',
    flow_action: asksServer ? 'data_exchange' : 'navigate',
    ...(Object.keys(shown).length > 0 && { flow_action_payload: shown }),
    ...(draft && { mode: 'draft' }),
  };
}
