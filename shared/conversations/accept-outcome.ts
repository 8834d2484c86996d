import type { Refusal } from '../ledger/refusal.ts';
import type { ConversationId } from '../runtime/ids.ts';

/** What became of a chat-app message that wants to be accepted. */
export type ChatAcceptOutcome =
  /** `credits`: what this message was charged with, 0 in a conversation that is paid for; `balance` when it paid. */
  | {
      readonly kind: 'accepted';
      readonly conversation: ConversationId;
      readonly credits: number;
      readonly balance?: number;
    }
  | Refusal
  /** `closedAt` undefined: the customer never wrote. */
  | SessionClosed
  | { readonly kind: 'outcome_unknown' };

export interface SessionClosed {
  readonly kind: 'session_closed';
  readonly closedAt: Date | undefined;
}

export const OUTCOME_UNKNOWN = { kind: 'outcome_unknown' } as const;
