import type {
  ChatContent,
  FilledButton,
  FilledHeader,
  FilledTemplate,
  FilledVariable,
} from '../../../shared/messages/document/chat-message.ts';

type TemplateContent = Extract<ChatContent, { readonly kind: 'template' }>;

/**
 * The `template` member of a send (WhatsApp Cloud API, "Template components"). Components come in the order header, body,
 * buttons. A component without values is left out. Pure.
 */
export function templateOf({ name, language, params, filled }: TemplateContent): object {
  const { header, body, buttons = [] } = filled ?? onlyBody(params);
  const components = [
    ...(header === undefined ? [] : [{ type: 'header', parameters: headerParameters(header) }]),
    ...(body === undefined ? [] : [{ type: 'body', parameters: body.map(textParameter) }]),
    ...buttons.map(buttonComponent),
  ];
  return {
    name,
    language: { code: language, policy: 'deterministic' },
    // A template without values must have no components, not empty ones.
    ...(components.length === 0 ? {} : { components }),
  };
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
  }
}
