import type { OpenConversation } from '../accounts/opening.ts';
import type { AccountId, ConversationId, MessageId } from '../runtime/ids.ts';

/**
 * An account and one of its customers on the chat-app channel. Two windows of 24 hours lie here, which are not the same:
 * the session runs from the customer's last message and says what may be written; the conversation runs from the message of
 * ours that opened it and says what has been paid (docs/decisions/0013).
 */
export interface ConversationDocument {
  readonly _id: ConversationKey;
  readonly account: AccountId;
  /** The customer's number, digits. */
  readonly customer: string;
  /** When the customer wrote last; absent when never. Only rises. */
  readonly lastInboundAt?: Date;
  /** The one that is paid for, or was last; absent when there was none. */
  readonly current?: OpenConversation;
  /** Number of the newest opening that was written here: it and earlier ones are never written again (opening-store.ts). */
  readonly openings?: number;
  /** Conversations of which surely nothing was taken: they were given back. The newest ones. */
  readonly voided?: readonly ConversationId[];
  /** Who stands for a conversation since its opener failed; of several for one the last. The newest ones. */
  readonly heirs?: readonly Heir[];
  /** How many decisions `voided` and `heirs` have had: each is a compare-and-set on it (charge-store.ts). */
  readonly judged?: number;
}

export interface Heir {
  readonly conversation: ConversationId;
  readonly opener: MessageId;
}

/** One per account and customer. */
export type ConversationKey = `${AccountId}:${string}`;

export function conversationKey(account: AccountId, customer: string): ConversationKey {
  return `${account}:${customer}`;
}
