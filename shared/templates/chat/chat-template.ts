import type { AccountId, RequestId } from '../../platform/runtime/ids.ts';

/** As the provider has it; workers/chatapp copies it from there. */
export interface ChatTemplateDocument {
  /** `<account>:<business>:<name>:<language>`. */
  readonly _id: `${AccountId}:${string}:${string}:${string}`;
  readonly account: AccountId;
  /** Id of the provider's business account that has it, whose numbers may all send it. */
  readonly business: string;
  readonly name: string;
  readonly language: string;
  readonly status: ChatTemplateStatus;
  /** `marketing`, `utility`, `authentication`, or whatever the provider says. */
  readonly category: string;
  /** Variables in its body (gateway/endpoints/chatapp/template-params.ts). */
  readonly variables: number;
  readonly components: TemplateComponents;
  /** The provider's id of it. Absent when its list, or its answer, has none. */
  readonly upstreamId?: string;
  /** Why it was rejected, paused or disabled, in the provider's words. */
  readonly reason?: string;
  /** In lower case: `green`, `yellow`, `red`, `unknown`. */
  readonly quality?: string;
  /** When the provider last took a message and held it back because of this template, in its word. */
  readonly heldBack?: { readonly word: string; readonly at: Date };
  /** When we learned of its newest status. A list of the provider that was read before that does not change it. */
  readonly statusAt?: Date;
  /** The provider's time of the newest status that it posted. Later posts with an earlier time are ignored. */
  readonly toldAt?: Date;
  /** Changes that webhooks have not got yet (workers/maintenance/announce.ts). */
  readonly unannounced?: readonly UnannouncedStatus[];
  /** The part, such as a carousel, for which our API cannot send the template. */
  readonly unsendable?: string;
  readonly syncedAt: Date;
}

interface UnannouncedStatus {
  readonly event: 'approved' | 'rejected' | 'stopped';
  readonly status: ChatTemplateStatus;
  readonly reason?: string;
  readonly at: Date;
}

/** The provider's status in lower case. Unknown ones are stored and count as not approved. */
export type ChatTemplateStatus = string;

/** Texts as the provider lists them, with their variables: `{{1}}` or `{{first_name}}`. */
export interface TemplateComponents {
  readonly header?: TemplateHeader;
  readonly body?: string;
  readonly footer?: string;
  /** In the provider's order. A button's index is its place here, from 0. */
  readonly buttons: readonly TemplateButton[];
  /** A limited-time offer. `expires`: each message says when. */
  readonly offer?: { readonly text: string; readonly expires: boolean };
  /** The cards of a carousel: each with its own header, body and buttons; none has cards. */
  readonly cards?: readonly TemplateComponents[];
}

export const MEDIA_HEADERS = ['image', 'video', 'document'] as const;
export type MediaHeader = (typeof MEDIA_HEADERS)[number];

export type TemplateHeader =
  | { readonly format: 'text'; readonly text: string }
  | { readonly format: MediaHeader | 'location' | 'product' };

/**
 * `catalog`, `mpm` and `spm` show the catalog, some of its products, and the header's product. `otp`: a `url` button of
 * an authentication template, whose variable takes the same code as the body.
 */
export const BUTTON_TYPES = [
  'quick_reply',
  'url',
  'otp',
  'copy_code',
  'phone_number',
  'voice_call',
  'catalog',
  'mpm',
  'spm',
  'flow',
] as const;
type ButtonType = (typeof BUTTON_TYPES)[number];

export interface TemplateButton {
  readonly type: ButtonType;
  readonly text: string;
  readonly url?: string;
  readonly phoneNumber?: string;
}

export type TemplateOwner = Pick<ChatTemplateDocument, 'account' | 'business'>;

export function chatTemplateId(
  { account, business }: TemplateOwner,
  name: string,
  language: string,
): ChatTemplateDocument['_id'] {
  return `${account}:${business}:${name}:${language}`;
}

/** The provider has not decided yet, so nothing is announced when a template gets one of these. */
const UNDER_REVIEW: readonly ChatTemplateStatus[] = ['pending', 'in_appeal'];

/** The event of a change from one status to another. */
function eventOf(from: ChatTemplateStatus | undefined, to: ChatTemplateStatus): UnannouncedStatus['event'] | undefined {
  if (from === to || UNDER_REVIEW.includes(to)) return undefined;
  if (to === 'approved' || to === 'rejected') return to;
  return from === 'approved' ? 'stopped' : undefined;
}

export function unannouncedOf(
  from: ChatTemplateStatus | undefined,
  status: ChatTemplateStatus,
  reason: string | undefined,
  at: Date,
): readonly UnannouncedStatus[] {
  const event = eventOf(from, status);
  return event === undefined ? [] : [{ event, status, ...(reason === undefined ? {} : { reason }), at }];
}

/** For deletions: everything of the template is announced. */
export const ALL_ANNOUNCED = { 'unannounced.0': { $exists: false } } as const;

/** What an account may ask for. Texts of authentication templates are WhatsApp's; `code` says the rest. */
export const CHAT_CATEGORIES = ['marketing', 'utility', 'authentication'] as const;

export interface TemplateDraft {
  readonly category: (typeof CHAT_CATEGORIES)[number];
  readonly components: TemplateComponents;
  readonly examples: DraftExamples & { readonly cards?: readonly DraftExamples[] };
  /** Only for an authentication template, which has nothing else but its button. */
  readonly code?: CodeDraft;
}

/** For the review, of a template or of a card of it. */
export interface DraftExamples {
  readonly header?: string;
  /** Where a sample of a header's file is. The provider gets the file itself. */
  readonly headerUrl?: string;
  /** One for each variable of the body, in their order. */
  readonly body: readonly string[];
  /** By the index of the button. */
  readonly buttons: readonly (string | null)[];
}

/** How the code of an authentication template gets into the app (WhatsApp, "Authentication templates"). */
export interface CodeDraft {
  readonly type: (typeof CODE_TYPES)[number];
  readonly securityAdvice: boolean;
  readonly expiresMinutes?: number;
  readonly buttonText?: string;
  readonly autofillText?: string;
  /** The apps of one tap and zero tap; the terms are those of zero tap. */
  readonly apps?: readonly { readonly package_name: string; readonly signature_hash: string }[];
  readonly termsAccepted?: true;
  readonly ttlSeconds?: number;
}

export const CODE_TYPES = ['copy_code', 'one_tap', 'zero_tap'] as const;

/**
 * What an account wants of a template at its provider: the intent that the chatapp worker carries out. It alone decides
 * what is asked; what the provider then has is in `chat_templates`. It stays after the answer, so that the account can
 * see when it asked and edit what it wrote.
 *
 * `due` → (`askedAt`: the provider was perhaps asked, so its list is read before it is asked again) → no `due`,
 * perhaps `refusal`.
 */
export interface ChatTemplateRequestDocument {
  readonly _id: ChatTemplateDocument['_id'];
  readonly account: AccountId;
  readonly business: string;
  readonly name: string;
  readonly language: string;
  readonly wants: 'create' | 'edit' | 'delete';
  /** Absent for a template that the account did not write here and wants deleted. */
  readonly draft?: TemplateDraft;
  /** The API request that asked for it; another one replaces it. */
  readonly request: RequestId;
  readonly requestedAt: Date;
  /** When to ask the provider (again). Unset when it has answered. */
  readonly due?: Date;
  readonly askedAt?: Date;
  readonly tries: number;
  readonly refusal?: string;
  readonly unannounced?: readonly UnannouncedStatus[];
  /** Its place among the templates that the account asked for (quotas.ts). */
  readonly place?: number;
}

/** `{{1}}` or `{{first_name}}`. WhatsApp names variables with letters, digits and underscores. */
const VARIABLE = /\{\{\s*(\w{1,64})\s*\}\}/g;

/**
 * The different variables of a text, in the order in which their values are given: numbered variables by their numbers,
 * named ones as they appear. A variable that appears twice takes one value.
 */
export function variablesIn(text: string): readonly string[] {
  const found = [...new Set([...text.matchAll(VARIABLE)].map(([, variable = '']) => variable))];
  return found.every(isNumber) ? found.sort((a, b) => Number(a) - Number(b)) : found;
}

/** Values of numbered variables are sent in their order, those of named ones with their names. */
export function isNumber(variable: string): boolean {
  return /^\d+$/.test(variable);
}

/** A variable without a value stays as it is. */
export function withValues(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(VARIABLE, (placeholder, variable: string) => values.get(variable) ?? placeholder);
}
