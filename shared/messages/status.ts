import type { FinalState, HistoryEntry, MessageState } from './message.ts';

/**
 * The one table of message states ("States and transitions"; Spec gap: transitions are not shown, ours are in
 * decisions.md, Messages). `from` are the states that an update to the key may leave; `shown` is what the API calls it.
 */
interface StateRule {
  readonly from: readonly MessageState[];
  readonly shown: 'queued' | 'sent' | FinalState | 'read' | 'received';
  readonly final: boolean;
}

const BEFORE_SENT = ['queued', 'submitting', 'waiting'] as const satisfies readonly MessageState[];

export const STATES: Readonly<Record<MessageState, StateRule>> = {
  // Back to queued only with proof that no carrier accepted anything.
  queued: { from: ['submitting', 'waiting'], shown: 'queued', final: false },
  submitting: { from: ['queued'], shown: 'queued', final: false },
  waiting: { from: ['submitting', 'queued'], shown: 'queued', final: false },
  sent: { from: BEFORE_SENT, shown: 'sent', final: false },
  // `delivered` may replace `expired` and `failed` within LATE_DELIVERY_MS: the handset knows better than the carrier's timer.
  delivered: { from: [...BEFORE_SENT, 'sent', 'expired', 'failed'], shown: 'delivered', final: true },
  failed: { from: [...BEFORE_SENT, 'sent'], shown: 'failed', final: true },
  expired: { from: [...BEFORE_SENT, 'sent'], shown: 'expired', final: true },
  rejected: { from: [...BEFORE_SENT, 'sent'], shown: 'rejected', final: true },
  // Chat-app: the provider may skip `delivered`; what was read was delivered, whatever was said before.
  read: { from: [...BEFORE_SENT, 'sent', 'delivered', 'expired', 'failed'], shown: 'read', final: true },
  // From a customer: it is stored in this state and stays in it.
  received: { from: [], shown: 'received', final: true },
};

/** How long after `expired` or `failed` a receipt may still turn a message into `delivered`. */
export const LATE_DELIVERY_MS = 72 * 3_600_000;

/** Whether a message in `state`, with this history, may go to `next` now. */
export function mayBecome(
  state: MessageState,
  next: MessageState,
  history: readonly HistoryEntry[],
  now: Date,
): boolean {
  if (!STATES[next].from.includes(state)) return false;
  if (!STATES[state].final || state === 'delivered') return true;
  const reached = history.findLast((entry) => entry.state === state);
  return reached !== undefined && now.getTime() - reached.at.getTime() <= LATE_DELIVERY_MS;
}
