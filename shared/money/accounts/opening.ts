import type { ConversationId, GroupId, MessageId } from '../../platform/runtime/ids.ts';

/** A conversation that was paid for. */
export interface OpenConversation {
  readonly id: ConversationId;
  /** Number of the opening within its account, in the order of payment (`accounts.chats`). */
  readonly number: number;
  /** Who started it: the customer (the session was open) or the business. */
  readonly by: Starter;
  readonly credits: number;
  /** The message of ours that the conversation was charged with. */
  readonly opener: MessageId;
  /** The debit that paid for it. */
  readonly group: GroupId;
  readonly openedAt: Date;
  /** The end: 24 hours after the opening. */
  readonly until: Date;
}

/** A conversation, and which document of the customer has it (money/conversations/person.ts). */
export interface PaidConversation extends OpenConversation {
  /** The name that it was opened under: the one that the opening message was written to, or another one of the person. */
  readonly customer: string;
}

/** An opening as the account document carries it until it is followed up. */
export interface Opening extends PaidConversation {
  /** Set when the opener had been accepted before, in a conversation that was refunded since. */
  readonly again?: true;
}

/** Who started a conversation. The price depends on it. */
export type Starter = 'user' | 'business';
