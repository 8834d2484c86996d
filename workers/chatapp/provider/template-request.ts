import type { Exchange } from '../../../shared/carriers/http/client.ts';
import { errorRule, graphErrorOf, objectOf, parseObject } from '../../../shared/carriers/providers/graph-error.ts';
import type {
  CodeDraft,
  DraftExamples,
  TemplateButton,
  TemplateComponents,
  TemplateDraft,
} from '../../../shared/templates/chat/chat-template.ts';

/** Members of a new template beside its components; an edit may change some. */
interface Head {
  readonly name?: string;
  readonly language?: string;
  readonly category?: TemplateDraft['category'];
}

/** Handles of the sample files of headers: the template's, and its cards' in their order. */
export interface SampleHandles {
  readonly header?: string | undefined;
  readonly cards?: readonly (string | undefined)[];
}

/** WhatsApp Business Management API, "Message templates", also for an edit. Variables are numbered (the default). */
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

export type TemplateVerdict =
  /** Status and id are absent after an edit or a deletion. */
  | { readonly kind: 'done'; readonly upstreamId?: string; readonly status?: string; readonly category?: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The name and language are taken: perhaps by what we asked for before. */
  | { readonly kind: 'taken'; readonly reason: string }
  /** No such business or template, or the token may not see it: only the operator can help, with `reason`. */
  | { readonly kind: 'no_access'; readonly reason: string }
  /** The provider may have done it, or not: its list tells. `reason`: for the operator. */
  | { readonly kind: 'later'; readonly reason: string };

/** "Content in this language already exists" (WhatsApp Business Management API). */
const TAKEN = 2388024;
/** Temporary, or too many calls (developers.facebook.com/docs/graph-api, "Error handling"). */
const PASSING: readonly number[] = [1, 2, 4, 17, 32, 613, 80007, 80008];
const NO_ACCESS = 'there is no such business id, or the access token may not manage its templates';
const REASON_MAX = 500;

export function judgeTemplateAnswer(exchange: Exchange): TemplateVerdict {
  if (exchange.kind !== 'answered')
    return { kind: 'later', reason: `no whole answer from the provider (${exchange.code})` };
  const { status } = exchange;
  const body = parseObject(exchange.body);
  if (status >= 200 && status < 300) return doneOf(body);
  const error = objectOf(body?.error);
  const code = typeof error?.code === 'number' ? error.code : undefined;
  const rule = code === undefined ? undefined : errorRule(code);
  if (rule?.code === 'provider_permission_missing') {
    // The account cannot help that, so the request waits for the operator.
    return { kind: 'later', reason: 'the access token may not manage templates' };
  }
  if (graphErrorOf(body)?.accessDenied === true) {
    return { kind: 'no_access', reason: `${NO_ACCESS} (HTTP ${status}, code ${code})` };
  }
  const passes = status >= 500 || [401, 408, 429].includes(status) || error?.is_transient === true;
  if (error === undefined || code === undefined || passes || PASSING.includes(code) || rule?.do === 'stop') {
    return { kind: 'later', reason: `the provider answers HTTP ${status}, code ${code ?? 'none'}` };
  }
  const reason = reasonOf(error, code);
  return error.error_subcode === TAKEN ? { kind: 'taken', reason } : { kind: 'refused', reason };
}

function doneOf(body: Readonly<Record<string, unknown>> | undefined): TemplateVerdict {
  if (body === undefined) return { kind: 'later', reason: 'the answer of the provider cannot be read' };
  const { id, status, category } = body;
  const word = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' && value.length <= 64 ? value : undefined;
  const [upstreamId, state, kind] = [word(id), word(status)?.toLowerCase(), word(category)?.toLowerCase()];
  return {
    kind: 'done',
    ...(upstreamId === undefined ? {} : { upstreamId }),
    ...(state === undefined ? {} : { status: state }),
    ...(kind === undefined ? {} : { category: kind }),
  };
}

function reasonOf(error: Readonly<Record<string, unknown>>, code: number): string {
  const { error_user_title: title, error_user_msg: message, message: plain } = error;
  const words = [title, message].filter((text) => typeof text === 'string' && text !== '');
  const text = words.length > 0 ? words.join(': ') : typeof plain === 'string' ? plain : `code ${code}`;
  return text.slice(0, REASON_MAX);
}
