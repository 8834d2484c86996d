import type {
  ChatContent,
  Flow,
  FrameHeader,
  ListSection,
  ProductSection,
} from '../../../shared/messages/document/chat-message.ts';

type Interactive = Extract<ChatContent, { readonly kind: 'buttons' | 'interactive' }>;

/**
 * The `interactive` member of a send (WhatsApp Cloud API: "Interactive reply buttons messages", "Interactive list messages",
 * "Interactive Call-to-Action URL Button Messages", "Location request messages", "Request contact info", "Sending a Flow", "Product messages"). Pure.
 */
export function interactiveOf(content: Interactive): object {
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

/** Of a message, and of a template with several products. */
export function productSections(sections: readonly ProductSection[]): readonly object[] {
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
    // "unused" is the provider's word for a flow that needs no token of its own (WhatsApp Flows, "Sending a Flow").
    flow_token: token ?? 'unused',
    flow_action: asksServer ? 'data_exchange' : 'navigate',
    ...(Object.keys(shown).length > 0 && { flow_action_payload: shown }),
    ...(draft && { mode: 'draft' }),
  };
}
