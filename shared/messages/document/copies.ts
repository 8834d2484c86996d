import type { Copy, FinalState, Part, PartState, StoredMessage } from './message.ts';

/**
 * A message may be submitted again when its answer never came and the carrier's policy is to resend. Each submit is a
 * copy, which the carrier may have taken and may report on later. A message's `claim` and `parts` belong to its current
 * copy; `earlier` has the copies before it, until they are known to have been refused (docs/decisions/0009).
 */

/** After this many submits without an answer, a message is not sent again. */
export const MAX_COPIES = 5;

/** `error_code` of a message that ended although an earlier copy may have been taken. */
export const UNCONFIRMED = 'unconfirmed';
export const NOT_REFUNDED =
  'An earlier copy of it may have reached the recipient: the carrier never answered for it. It is not refunded.';

/** Whether an earlier copy may have been taken. If so, the message is never refunded and never `rejected`. */
export function mayHaveLeft({ earlier = [] }: Pick<StoredMessage, 'earlier'>): boolean {
  return earlier.some(({ parts }) => parts.some((part) => part.state !== 'refused'));
}

/** The current copy was submitted, and its result is unknown. */
export function isUnanswered(message: StoredMessage): boolean {
  return message.state === 'submitting' && message.outcome === 'unknown' && !isHeldOpen(message);
}

/** The current copy was refused for good, but an earlier one may have been taken, so the message stays open. */
export function isHeldOpen({ state, outcome, errorCode }: StoredMessage): boolean {
  return state === 'submitting' && outcome === 'unknown' && errorCode !== undefined;
}

/** Throws for a message that nobody claimed. */
export function currentCopy(message: StoredMessage, segments: number): Copy {
  if (message.claim === undefined) throw new Error('a copy without a claim');
  return { ...message.claim, parts: message.parts ?? unknownParts(segments) };
}

export function unknownParts(segments: number): readonly Part[] {
  return Array.from({ length: segments }, () => ({ state: 'unknown' as const }));
}

/** A success answer or a receipt says that every segment was taken. */
export function isTaken(parts: readonly Part[]): boolean {
  return parts.length > 0 && !isOpen(parts) && parts.every(({ state }) => state !== 'refused');
}

/** Nothing is known about at least one segment. */
export function isOpen(parts: readonly Part[]): boolean {
  return parts.some(isOpenPart);
}

export function isOpenPart({ key, state }: Part): boolean {
  return key === undefined && state === 'unknown';
}

/** The state in which a copy with these parts ends; undefined while a part may still change. */
function finalState(parts: readonly Part[]): FinalState | undefined {
  // A part without an id gets no receipt of its own: some carriers give one id, or send one receipt, for all segments.
  const telling = parts.filter(isTelling);
  if (telling.length === 0) return undefined;
  const states = telling.map((part) => (part.state === 'refused' ? 'failed' : part.state));
  return states.every((state) => hasEnded(state)) ? worst(states) : undefined;
}

/**
 * The state in which a message ends; `parts`: those of its current copy. Delivered as soon as one copy is. Otherwise it
 * ends when every copy that can still get a receipt has ended; an earlier copy with an unknown segment gets none.
 */
export function endState(earlier: readonly Copy[], parts: readonly Part[]): FinalState | undefined {
  const whole = earlier.flatMap((copy) => (isOpen(copy.parts) ? [] : [copy.parts]));
  const ends = [...whole, ...(parts.some(isTelling) ? [parts] : [])].map(finalState);
  if (ends.includes('delivered')) return 'delivered';
  const last = ends.at(-1);
  if (last === undefined || ends.includes(undefined)) return undefined;
  // Not `rejected`: that state is final, and another copy may still be delivered.
  return last === 'rejected' && earlier.length > 0 ? 'failed' : last;
}

export function hasEnded(state: PartState): state is FinalState {
  return state !== 'accepted' && state !== 'unknown' && state !== 'refused';
}

function isTelling(part: Part): boolean {
  return part.key !== undefined || part.state === 'refused';
}

const RANK: readonly PartState[] = ['delivered', 'expired', 'failed', 'rejected'];

/** If one part did not arrive, the message did not. */
function worst(states: readonly PartState[]): FinalState {
  const rank = Math.max(...states.map((state) => RANK.indexOf(state)));
  const state = RANK[rank];
  if (state === undefined || !hasEnded(state)) throw new Error('a part of a message has no final state');
  return state;
}
