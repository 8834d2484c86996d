import type { Copy, FinalState, Part, PartState, StoredMessage } from './message.ts';

/**
 * A message is submitted again when its answer never came and the carrier's policy says so. Each submit is a copy of its own, because
 * the carrier may have taken each, and may report on each later. `claim` and `parts` of a message are those of its current copy;
 * the copies before it are in `earlier`, until they are known to have been refused. Pure (docs/decisions/0025).
 */

/** After so many submits without an answer a message is not sent again. */
export const MAX_COPIES = 5;

/** `error_code` of a message that ended while an earlier copy of it may have been taken. */
export const UNCONFIRMED = 'unconfirmed';
export const NOT_REFUNDED =
  'An earlier copy of it may have reached the recipient: the carrier never answered for it. It is not refunded.';

/** Whether an earlier copy may have been taken. Such a message is never refunded, and never `rejected`. */
export function mayHaveLeft({ earlier = [] }: Pick<StoredMessage, 'earlier'>): boolean {
  return earlier.some(({ parts }) => parts.some((part) => part.state !== 'refused'));
}

/** Its current copy was submitted, and nothing says what became of it. */
export function isUnanswered(message: StoredMessage): boolean {
  return message.state === 'submitting' && message.outcome === 'unknown' && !isHeldOpen(message);
}

/** Its current copy was refused for good (`errorCode` says why), but an earlier one may have been taken: it waits for news of that. */
export function isHeldOpen({ state, outcome, errorCode }: StoredMessage): boolean {
  return state === 'submitting' && outcome === 'unknown' && errorCode !== undefined;
}

/** The current copy, as it becomes an earlier one. Throws for a message that nobody claimed. */
export function currentCopy(message: StoredMessage, segments: number): Copy {
  if (message.claim === undefined) throw new Error('a copy without a claim');
  return { ...message.claim, parts: message.parts ?? unknownParts(segments) };
}

export function unknownParts(segments: number): readonly Part[] {
  return Array.from({ length: segments }, () => ({ state: 'unknown' as const }));
}

/** Every segment was taken: answered with success, or told of by a receipt. */
export function isTaken(parts: readonly Part[]): boolean {
  return parts.length > 0 && !isOpen(parts) && parts.every(({ state }) => state !== 'refused');
}

/** Of some segment nothing is known. */
export function isOpen(parts: readonly Part[]): boolean {
  return parts.some(isOpenPart);
}

export function isOpenPart({ key, state }: Part): boolean {
  return key === undefined && state === 'unknown';
}

/** The state in which a copy with these parts ends; undefined while one of them may still change. */
export function finalState(parts: readonly Part[]): FinalState | undefined {
  // A part without an id has no receipt of its own: some carriers give one id, or one receipt, for all.
  const telling = parts.filter(isTelling);
  if (telling.length === 0) return undefined;
  const states = telling.map((part) => (part.state === 'refused' ? 'failed' : part.state));
  return states.every((state) => isFinal(state)) ? worst(states) : undefined;
}

/**
 * The state in which a message ends; `parts` are those of its current copy. It is delivered as soon as one copy is. Otherwise it ends
 * when all copies have ended that will be reported on; of an earlier copy with an unknown segment no report is expected.
 */
export function endState(earlier: readonly Copy[], parts: readonly Part[]): FinalState | undefined {
  const whole = earlier.flatMap((copy) => (isOpen(copy.parts) ? [] : [copy.parts]));
  const ends = [...whole, ...(parts.some(isTelling) ? [parts] : [])].map(finalState);
  if (ends.includes('delivered')) return 'delivered';
  const last = ends.at(-1);
  if (last === undefined || ends.includes(undefined)) return undefined;
  // `rejected` would be the end of it, whatever came of the other copies.
  return last === 'rejected' && earlier.length > 0 ? 'failed' : last;
}

function isFinal(state: PartState): state is FinalState {
  return state !== 'accepted' && state !== 'unknown' && state !== 'refused';
}

function isTelling(part: Part): boolean {
  return part.key !== undefined || part.state === 'refused';
}

const RANK: readonly PartState[] = ['delivered', 'expired', 'failed', 'rejected'];

/** The worst of final states: one part that did not arrive spoils the whole. */
function worst(states: readonly PartState[]): FinalState {
  const rank = Math.max(...states.map((state) => RANK.indexOf(state)));
  const state = RANK[rank];
  if (state === undefined || !isFinal(state)) throw new Error('a part of a message has no final state');
  return state;
}
