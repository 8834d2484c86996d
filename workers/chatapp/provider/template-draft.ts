import type {
  CodeDraft,
  DraftExamples,
  TemplateButton,
  TemplateComponents,
  TemplateDraft,
} from '../../../shared/templates/chat/chat-template.ts';

/** What a new template has beside its components, and of it what an edit changes. */
interface Head {
  readonly name?: string;
  readonly language?: string;
  readonly category?: TemplateDraft['category'];
}

/** Of the sample files, where a header is a file: of the template's, and of its cards in their order. */
export interface SampleHandles {
  readonly header?: string | undefined;
  readonly cards?: readonly (string | undefined)[];
}

/**
 * The body of `POST /{business}/message_templates`, and of an edit (WhatsApp Business Management API, "Message templates").
 * Variables are numbered, which is the provider's default.
 */
export function templatePayload(
  draft: TemplateDraft,
  { category, ...named }: Head,
  handles: SampleHandles = {},
): Buffer {
  const kind = category === undefined ? {} : { category: category.toUpperCase() };
  if (draft.code !== undefined) {
    const { ttlSeconds } = draft.code;
    const ttl = ttlSeconds === undefined ? {} : { message_send_ttl_seconds: ttlSeconds };
    return Buffer.from(JSON.stringify({ ...named, ...kind, ...ttl, components: codeComponents(draft.code) }));
  }
  return Buffer.from(
    JSON.stringify({
      ...named,
      ...kind,
      components: componentsOf(draft.components, draft.examples, handles.header, handles.cards),
    }),
  );
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

/** Of a template or of one of its cards. */
function componentsOf(
  { header, body, footer, buttons, offer, cards }: TemplateComponents,
  examples: TemplateDraft['examples'],
  handle: string | undefined,
  ofCards: readonly (string | undefined)[] = [],
): readonly object[] {
  return [
    ...(header?.format === 'text'
      ? [
          {
            ...{ type: 'HEADER', format: 'TEXT', text: header.text },
            ...(examples.header === undefined ? {} : { example: { header_text: [examples.header] } }),
          },
        ]
      : []),
    ...(header?.format === 'location' || header?.format === 'product'
      ? [{ type: 'HEADER', format: header.format.toUpperCase() }]
      : []),
    ...(header === undefined || handle === undefined
      ? []
      : [{ type: 'HEADER', format: header.format.toUpperCase(), example: { header_handle: [handle] } }]),
    ...(offer === undefined
      ? []
      : [{ type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: offer.text, has_expiration: offer.expires } }]),
    ...(body === undefined
      ? []
      : [
          {
            ...{ type: 'BODY', text: body },
            // An array in an array: one set of examples.
            ...(examples.body.length > 0 && { example: { body_text: [examples.body] } }),
          },
        ]),
    ...(footer === undefined ? [] : [{ type: 'FOOTER', text: footer }]),
    ...(buttons.length === 0
      ? []
      : [{ type: 'BUTTONS', buttons: buttons.map((button, i) => buttonOf(button, examples.buttons[i] ?? undefined)) }]),
    ...(cards === undefined
      ? []
      : [
          {
            type: 'CAROUSEL',
            cards: cards.map((card, i) => ({
              components: componentsOf(card, examples.cards?.[i] ?? NO_EXAMPLES, ofCards[i]),
            })),
          },
        ]),
  ];
}

const NO_EXAMPLES: DraftExamples = { body: [], buttons: [] };

function buttonOf({ type, text, url, phoneNumber }: TemplateButton, example: string | undefined): object {
  switch (type) {
    case 'url':
      return { type: 'URL', text, url, ...(example !== undefined && { example: [example] }) };
    case 'phone_number':
      return { type: 'PHONE_NUMBER', text, phone_number: phoneNumber };
    case 'copy_code':
      return { type: 'COPY_CODE', example };
    default:
      return { type: type.toUpperCase(), text };
  }
}
