import type { FinalState, HistoryEntry, MessageState, StoredMessage } from './message.ts';

interface StateRule {
  readonly next: readonly MessageState[];
  readonly shown: 'queued' | 'sent' | FinalState | 'read' | 'received';
  readonly final: boolean;
}

/** A receipt or status may come before the answer to the submit, so any of these may be the first news. */
const ENDS = ['delivered', 'failed', 'expired', 'rejected', 'read'] as const satisfies readonly MessageState[];

/** Spec gap: the specification names states, not transitions. Above each state: how a message gets there. */
export const STATES = {
  // Accepted. Or back from `submitting`: no carrier took it, or the result of that submit is awaited separately.
  // Or back from `waiting`: its pause is over.
  queued: { next: ['submitting', 'waiting', 'sent', ...ENDS], shown: 'queued', final: false },
  // A worker claimed it. It stays here while the answer to its submit is unknown.
  submitting: { next: ['queued', 'waiting', 'sent', ...ENDS], shown: 'queued', final: false },
  // The carrier refused it for now: `due` says when it returns to the queue.
  waiting: { next: ['queued', 'sent', ...ENDS], shown: 'queued', final: false },
  // The carrier took it, or is believed to have taken it (`unknownPolicy`). It returns to the queue, once, when a
  // receipt says that it surely was not delivered and its route wants that.
  sent: { next: ['queued', ...ENDS], shown: 'sent', final: false },
  // A receipt or a status says so.
  delivered: { next: ['read'], shown: 'delivered', final: true },
  // A receipt or a status says so; a part was refused for good; or it was sent again and nobody knows what became of
  // it. It may still become `delivered` within LATE_DELIVERY_MS: the handset knows better than the carrier's timer.
  failed: { next: ['delivered', 'read'], shown: 'failed', final: true },
  // Its validity ended here or at the carrier. It may still become `delivered`, as above.
  expired: { next: ['delivered', 'read'], shown: 'expired', final: true },
  // Refused for good, here or by the carrier, or its batch was stopped.
  rejected: { next: [], shown: 'rejected', final: true },
  // Chat-app: the customer opened it. The provider may skip `delivered`.
  read: { next: [], shown: 'read', final: true },
  received: { next: [], shown: 'received', final: true },
} as const satisfies Readonly<Record<MessageState, StateRule>>;

/** How long after `expired` or `failed` a receipt may still change a message to `delivered`. */
const LATE_DELIVERY_MS = 72 * 3_600_000;

/** Our code decided a change that the table forbids: our bug, never a carrier's mistake. */
class ForbiddenTransition extends Error {
  readonly code = 'forbidden_transition';
}

export function isNext(state: MessageState, next: MessageState): boolean {
  return nextOf(state).includes(next);
}

/** Throws when the table does not allow the transition. */
export function enter<Next extends MessageState>(state: MessageState, next: Next): Next {
  if (state !== next && !isNext(state, next)) {
    throw new ForbiddenTransition(`a message cannot go from ${state} to ${next}`);
  }
  return next;
}

/** A message that a carrier took and gave up is still `sent` while the next one is asked. */
export function shownState({ state, givenUp }: Pick<StoredMessage, 'state' | 'givenUp'>): StateRule['shown'] {
  const { shown } = STATES[state];
  return shown === 'queued' && givenUp !== undefined ? 'sent' : shown;
}

/** As far as is known, no carrier has taken it yet. */
export function isBeforeSent(state: MessageState): boolean {
  return isNext(state, 'sent');
}

export function mayBecome(
  state: MessageState,
  next: MessageState,
  history: readonly HistoryEntry[],
  now: Date,
): boolean {
  if (!isNext(state, next)) return false;
  if (!STATES[state].final || state === 'delivered') return true;
  const reached = history.findLast((entry) => entry.state === state);
  return reached !== undefined && now.getTime() - reached.at.getTime() <= LATE_DELIVERY_MS;
}

function nextOf(state: MessageState): readonly MessageState[] {
  return STATES[state].next;
}
