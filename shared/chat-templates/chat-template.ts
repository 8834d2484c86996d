import type { AccountId } from '../runtime/ids.ts';

/** A template of the chat-app channel as the provider has it; copied from there (workers/chatapp), never made here. */
export interface ChatTemplateDocument {
  /** `<account>:<name>:<language>`. */
  readonly _id: `${AccountId}:${string}:${string}`;
  readonly account: AccountId;
  readonly name: string;
  readonly language: string;
  readonly status: ChatTemplateStatus;
  /** `marketing`, `utility`, `authentication`, or whatever the provider says. */
  readonly category: string;
  /** Variables of its body, which `params` fills in order. */
  readonly variables: number;
  /** Needs what our API cannot give it (a media header, a variable in a header or a button), and what that is. */
  readonly unsendable?: string;
  readonly syncedAt: Date;
}

/** The provider's word in lower case. Ones that we do not know are kept and count as not approved. */
export type ChatTemplateStatus = string;

export function chatTemplateId(account: AccountId, name: string, language: string): ChatTemplateDocument['_id'] {
  return `${account}:${name}:${language}`;
}
