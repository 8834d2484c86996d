import type { AccountId } from '../../platform/runtime/ids.ts';

/** A template of the chat-app channel as the provider has it. workers/chatapp copies it from there. */
export interface ChatTemplateDocument {
  /** `<account>:<business>:<name>:<language>`. */
  readonly _id: `${AccountId}:${string}:${string}:${string}`;
  readonly account: AccountId;
  /** The id of the business account at the provider that has it. Every number of the business account may send it. */
  readonly business: string;
  readonly name: string;
  readonly language: string;
  readonly status: ChatTemplateStatus;
  /** `marketing`, `utility`, `authentication`, or whatever the provider says. */
  readonly category: string;
  /** Number of variables in its body. gateway/endpoints/chatapp/template-params.ts derives from `components` what each entry of `params` fills. */
  readonly variables: number;
  /** The parts of the template. */
  readonly components: TemplateComponents;
  /** The provider's id of it. Absent when its list, or its answer, has none. */
  readonly upstreamId?: string;
  /** Why it was rejected, paused or disabled, in the provider's words. */
  readonly reason?: string;
  /** The provider's opinion of its quality in lower case: `green`, `yellow`, `red`, `unknown`. */
  readonly quality?: string;
  /** When the provider last took a message and held it back because of this template, in its word. */
  readonly heldBack?: { readonly word: string; readonly at: Date };
  /** When we learned of its newest status. A list of the provider that was read before that does not change it. */
  readonly statusAt?: Date;
  /** The provider's time of the newest status that it posted. A post with an earlier time, which may come later, is ignored. */
  readonly toldAt?: Date;
  /** Changes that webhooks have not got yet (workers/maintenance/announce.ts). */
  readonly unannounced?: readonly UnannouncedStatus[];
  /** If our API cannot send the template: the part that it cannot send, such as a carousel. */
  readonly unsendable?: string;
  readonly syncedAt: Date;
}

export interface UnannouncedStatus {
  readonly event: 'approved' | 'rejected' | 'stopped';
  readonly status: ChatTemplateStatus;
  readonly reason?: string;
  readonly at: Date;
}

/** The provider's status in lower case. Unknown ones are stored and count as not approved. */
export type ChatTemplateStatus = string;

/** Texts are as the provider lists them, with their variables: `{{1}}` or `{{first_name}}`. */
export interface TemplateComponents {
  readonly header?: TemplateHeader;
  readonly body?: string;
  readonly footer?: string;
  /** In the provider's order. The index of a button is its place here, from 0. */
  readonly buttons: readonly TemplateButton[];
  /** Of a limited-time offer. `expires`: each message says when. */
  readonly offer?: { readonly text: string; readonly expires: boolean };
  /** Of a carousel: each with its own header, body and buttons; none has cards. */
  readonly cards?: readonly TemplateComponents[];
}

export const MEDIA_HEADERS = ['image', 'video', 'document'] as const;
export type MediaHeader = (typeof MEDIA_HEADERS)[number];

export type TemplateHeader =
  | { readonly format: 'text'; readonly text: string }
  | { readonly format: MediaHeader | 'location' | 'product' };

/**
 * `catalog`, `mpm` and `spm` show the catalog, some of its products, and the one of the header. `otp` is a `url` button of an authentication template:
 * its variable takes the same code as the body.
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
export type ButtonType = (typeof BUTTON_TYPES)[number];

export interface TemplateButton {
  readonly type: ButtonType;
  /** The text that the customer sees on the button. */
  readonly text: string;
  readonly url?: string;
  readonly phoneNumber?: string;
}

/** Whose templates: an account's, at one of its business accounts of the provider. */
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

/** What is announced when a template goes from one status to another. Pure. */
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

/** What may be deleted: all of it is announced. */
export const ALL_ANNOUNCED = { 'unannounced.0': { $exists: false } } as const;
