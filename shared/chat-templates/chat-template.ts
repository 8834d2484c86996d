import type { AccountId } from '../runtime/ids.ts';

/** A template of the chat-app channel as the provider has it. workers/chatapp copies it from there; it is never created here. */
export interface ChatTemplateDocument {
  /** `<account>:<name>:<language>`. */
  readonly _id: `${AccountId}:${string}:${string}`;
  readonly account: AccountId;
  readonly name: string;
  readonly language: string;
  readonly status: ChatTemplateStatus;
  /** `marketing`, `utility`, `authentication`, or whatever the provider says. */
  readonly category: string;
  /** Number of variables in its body; `params` fills them in order. */
  readonly variables: number;
  /** Set when our API cannot send the template, with the reason: a media header, or a variable in a header or a button. */
  readonly unsendable?: string;
  readonly syncedAt: Date;
}

/** The provider's status in lower case. Unknown ones are stored and count as not approved. */
export type ChatTemplateStatus = string;

export function chatTemplateId(account: AccountId, name: string, language: string): ChatTemplateDocument['_id'] {
  return `${account}:${name}:${language}`;
}
