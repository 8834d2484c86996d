import type { BusinessNumber } from '../../messages/document/chat-message.ts';
import type { AccountId, ConversationId, MessageId } from '../../platform/runtime/ids.ts';
import type { OpenConversation, Starter } from '../accounts/opening.ts';

/**
 * An account and one of its customers on the chat-app channel. The document holds two different windows of 24 hours. A session
 * runs from the customer's last message to one of the account's numbers and decides what may be written from that number. The
 * conversation runs from the message of ours that opened it and decides what has been paid, whatever number it is written from
 * (docs/decisions/0016, 0056).
 */
export interface ConversationDocument {
  readonly _id: ConversationKey;
  readonly account: AccountId;
  /** The customer's number, digits; or the user id of one who shows none. */
  readonly customer: string;
  /** Other names of the same person with a document of their own (person.ts). The newest last. */
  readonly aliases?: readonly string[];
  /**
   * What else the person is found by: their customer id, user ids that have no document, the user name behind an @. In the form of
   * a conversation's key, so none is of another account.
   */
  readonly keys?: readonly ConversationKey[];
  /** When the account first met the person, and under which name: `2026-11-22T10:00:00.000Z 919876543210`. Their id derives from it. */
  readonly first?: string;
  /** What the provider told of the person under this name, and when it was news last. */
  readonly profile?: Profile & { readonly at: Date };
  /** When the person left this number for another one. */
  readonly leftAt?: Date;
  /** When something of these was changed last. */
  readonly linkedAt?: Date;
  /** Number of changes of these. Each is a compare-and-set on it (workers/chatapp/link.ts). */
  readonly links?: number;
  /** Time of the customer's last message, to whatever number; absent when there was none. It only rises. */
  readonly lastInboundAt?: Date;
  /** What the customer told the provider last about marketing, and when. Absent: nothing. */
  readonly marketing?: { readonly stopped: boolean; readonly at: Date };
  /** The same for each of the account's numbers that the customer wrote to, by its digits. */
  readonly sessions?: Readonly<Record<BusinessNumber, Date>>;
  /** The conversation that is paid for now, or was paid for last; absent when there was none. */
  readonly current?: OpenConversation;
  /** Number of the newest opening written here. This opening and earlier ones are never written again (opening-store.ts). */
  readonly openings?: number;
  /** The conversations that were refunded last. Certainly none of their messages was accepted by the provider. */
  readonly refunded?: readonly ConversationId[];
  /**
   * The last changes of openers. Each successor is charged with a conversation because its opener failed. The last entry for a
   * conversation counts.
   */
  readonly successors?: readonly Successor[];
  /** Number of decisions recorded in `refunded` and `successors`. Each decision is a compare-and-set on it (charge-store.ts). */
  readonly judged?: number;
}

/** Who a person is, as the provider tells it. `userId`: their id for this business; `parentId`: over a business's portfolios. */
export interface Profile {
  readonly number?: string;
  readonly userId?: string;
  readonly parentId?: string;
  readonly username?: string;
  readonly name?: string;
}

export interface Successor {
  readonly conversation: ConversationId;
  readonly opener: MessageId;
}

/** One per account and customer. */
export type ConversationKey = `${AccountId}:${string}`;

export function conversationKey(account: AccountId, customer: string): ConversationKey {
  return `${account}:${customer}`;
}

/** "Free-form session window: 24 hours after the customer's last message" ("Limits"). */
export const SESSION_MS = 24 * 3_600_000;
/** A conversation lasts this long from the message that opens it. */
const CONVERSATION_MS = 24 * 3_600_000;

export type Session = Pick<ConversationDocument, 'lastInboundAt'>;

/** When the customer's session ends, or ended; undefined when the customer never wrote. */
export function sessionUntil(conversation: Session | undefined): Date | undefined {
  const last = conversation?.lastInboundAt;
  return last === undefined ? undefined : new Date(last.getTime() + SESSION_MS);
}

/** Whether free-form messages may be written to the customer now. Outside the session only templates may. */
export function isSessionOpen(conversation: Session | undefined, now: Date): boolean {
  const until = sessionUntil(conversation);
  return until !== undefined && now < until;
}

/** Who counts as the starter if our message opens a conversation now. */
export function starterAt(conversation: Session | undefined, now: Date): Starter {
  return isSessionOpen(conversation, now) ? 'user' : 'business';
}

export function conversationUntil(openedAt: Date): Date {
  return new Date(openedAt.getTime() + CONVERSATION_MS);
}
