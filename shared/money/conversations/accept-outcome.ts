import type { ConversationId } from '../../platform/runtime/ids.ts';
import type { Refusal } from '../ledger/refusal.ts';

/** The result of accepting a chat-app message. */
export type ChatAcceptOutcome =
  /** `credits`: the price of this message, 0 inside a paid conversation. `balance`: present when it paid. */
  | {
      readonly kind: 'accepted';
      readonly conversation: ConversationId;
      readonly credits: number;
      readonly balance?: number;
    }
  /** `mayStillPay`: the answer to an attempt was lost, and it may still pay until `payBy`. */
  | ((Refusal | SessionClosed | ConversationLimitReached) & { readonly mayStillPay?: true })
  | { readonly kind: 'outcome_unknown' };

export interface SessionClosed {
  readonly kind: 'session_closed';
  /** Undefined: the customer never wrote. */
  readonly closedAt: Date | undefined;
}

/** The conversation has as many messages of ours as the account allows. */
export interface ConversationLimitReached {
  readonly kind: 'conversation_limit_reached';
  readonly most: number;
}

export const OUTCOME_UNKNOWN = { kind: 'outcome_unknown' } as const;
