import type { ConversationId, GroupId, MessageId } from '../runtime/ids.ts';

/** A conversation that was paid for. */
export interface OpenConversation {
  readonly id: ConversationId;
  /** Which of the account's openings it is; they are numbered as they were paid for (`accounts.chats`). */
  readonly number: number;
  /** The customer started it (its session was open) or the business. */
  readonly by: Opener;
  readonly credits: number;
  /** Of ours, which it was charged with. */
  readonly opener: MessageId;
  /** The debit. */
  readonly group: GroupId;
  readonly openedAt: Date;
  /** 24 h later. */
  readonly until: Date;
}

/** An opening as the account document carries it until it is followed up. */
export interface Opening extends OpenConversation {
  /** The customer's number, digits. */
  readonly customer: string;
  /** The opener was accepted before, for a conversation that was given back since. */
  readonly again?: true;
}

export type Opener = 'user' | 'business';
