import type { TemplateButton } from '../../../shared/templates/chat/chat-template.ts';
import type { CodeDraft, TemplateDraft } from '../../../shared/templates/chat/template-request.ts';

/** What a new template has beside its components, and of it what an edit changes. */
interface Head {
  readonly name?: string;
  readonly language?: string;
  readonly category?: TemplateDraft['category'];
}

/**
 * The body of `POST /{business}/message_templates`, and of an edit (WhatsApp Business Management API, "Message templates").
 * Variables are numbered, which is the provider's default.
 */
export function templatePayload(
  draft: TemplateDraft,
  { category, ...named }: Head,
  /** Of the sample file, when the header is a file. */
  handle?: string,
): Buffer {
  const kind = category === undefined ? {} : { category: category.toUpperCase() };
  if (draft.code !== undefined) {
    const { ttlSeconds } = draft.code;
    const ttl = ttlSeconds === undefined ? {} : { message_send_ttl_seconds: ttlSeconds };
    return Buffer.from(JSON.stringify({ ...named, ...kind, ...ttl, components: codeComponents(draft.code) }));
  }
  return Buffer.from(JSON.stringify({ ...named, ...kind, components: componentsOf(draft, handle) }));
}

/** "Authentication templates": the texts are the provider's, whose list shows the button as a URL later. */
function codeComponents(code: CodeDraft): readonly object[] {
  const { type, securityAdvice, expiresMinutes, buttonText, autofillText, apps, termsAccepted } = code;
  const button = {
    ...{ type: 'OTP', otp_type: type.toUpperCase() },
    ...{ text: buttonText, autofill_text: autofillText, zero_tap_terms_accepted: termsAccepted, supported_apps: apps },
  };
  return [
    { type: 'BODY', add_security_recommendation: securityAdvice },
    ...(expiresMinutes === undefined ? [] : [{ type: 'FOOTER', code_expiration_minutes: expiresMinutes }]),
    { type: 'BUTTONS', buttons: [button] },
  ];
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
