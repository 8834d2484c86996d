import type { TemplateButton } from '../../../shared/chat-templates/chat-template.ts';
import type { TemplateDraft } from '../../../shared/chat-templates/template-request.ts';

/**
 * The body of `POST /{business}/message_templates`, and of an edit, which has the components only (WhatsApp Business Management
 * API, "Message templates"). Variables are numbered, which is the provider's default.
 */
export function templatePayload(
  draft: TemplateDraft,
  named?: { readonly name: string; readonly language: string },
  /** Of the sample file, when the header is a file. */
  handle?: string,
): Buffer {
  const { category } = draft;
  const components = componentsOf(draft, handle);
  return Buffer.from(
    JSON.stringify(named === undefined ? { components } : { ...named, category: category.toUpperCase(), components }),
  );
}

function componentsOf({ components, examples }: TemplateDraft, handle: string | undefined): readonly object[] {
  const { header, body = '', footer, buttons } = components;
  return [
    ...(header?.format === 'text'
      ? [
          {
            ...{ type: 'HEADER', format: 'TEXT', text: header.text },
            ...(examples.header === undefined ? {} : { example: { header_text: [examples.header] } }),
          },
        ]
      : []),
    ...(header?.format === 'location' ? [{ type: 'HEADER', format: 'LOCATION' }] : []),
    ...(header === undefined || handle === undefined
      ? []
      : [{ type: 'HEADER', format: header.format.toUpperCase(), example: { header_handle: [handle] } }]),
    {
      ...{ type: 'BODY', text: body },
      // An array in an array: one set of examples.
      ...(examples.body.length > 0 && { example: { body_text: [examples.body] } }),
    },
    ...(footer === undefined ? [] : [{ type: 'FOOTER', text: footer }]),
    ...(buttons.length === 0
      ? []
      : [{ type: 'BUTTONS', buttons: buttons.map((button, i) => buttonOf(button, examples.buttons[i] ?? undefined)) }]),
  ];
}

function buttonOf({ type, text, url, phoneNumber }: TemplateButton, example: string | undefined): object {
  switch (type) {
    case 'url':
      return { type: 'URL', text, url, ...(example !== undefined && { example: [example] }) };
    case 'phone_number':
      return { type: 'PHONE_NUMBER', text, phone_number: phoneNumber };
    case 'copy_code':
      return { type: 'COPY_CODE', example };
    default:
      return { type: 'QUICK_REPLY', text };
  }
}
