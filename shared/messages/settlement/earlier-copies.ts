import { type Change, entryAt, fitted } from '../document/change.ts';
import { isHeldOpen, isTaken, unknownParts } from '../document/copies.ts';
import type { Copy, Part, StoredMessage } from '../document/message.ts';
import { isBeforeSent, STATES } from '../document/status.ts';
import { mergeParts, ownIds, sameParts } from './answered-parts.ts';
import { sentWith } from './sent.ts';
import { PARTIAL, type SubmitOutcome } from './submit-outcome.ts';

/** Answers to a message that was submitted more than once (messages/document/copies.ts). Pure. */

/**
 * The change from a late answer about an earlier copy. Taken: the message is sent and needs no further copy. Refused: the copy is
 * removed as if it had never existed. Only receipts change an ended message; they find it by the ids in the answer.
 */
export function decideEarlier(
  message: StoredMessage,
  copy: Copy,
  outcome: SubmitOutcome,
  now: Date,
): Change | undefined {
  const { state, earlier = [] } = message;
  const rest = earlier.filter((other) => other !== copy);
  if (!('parts' in outcome) || outcome.kind === 'rejected') {
    const isTold = copy.parts.some(({ key }) => key !== undefined);
    return isTold || STATES[state].final ? undefined : withoutCopy(message, rest, now);
  }
  const { parts, others } = ownIds(mergeParts(copy.parts, outcome.parts), rest);
  if (sameParts(parts, copy.parts)) return undefined;
  const told = earlier.map((other) => (other === copy ? { ...copy, parts } : (others[rest.indexOf(other)] ?? other)));
  if (outcome.kind !== 'sent' || !isBeforeSent(state)) return { set: { earlier: told } };
  const underWay = state === 'submitting' && !isHeldOpen(message);
  const behind = underWay ? (message.parts ?? unknownParts(parts.length)) : undefined;
  return asCurrent({ ...message, earlier: others }, { ...copy, parts }, behind, now);
}

/**
 * The current copy was refused or not written, and an earlier one was taken completely: the message is sent by that one.
 * Undefined when there is no such copy, or when the current one may have been taken too.
 */
export function fallBack(message: StoredMessage, outcome: SubmitOutcome, now: Date): Change | undefined {
  const taken = message.earlier?.find((copy) => isTaken(copy.parts));
  if (taken === undefined || outcome.kind === 'sent' || outcome.kind === 'unknown') return undefined;
  return asCurrent(message, taken, outcome.kind === 'partial' ? outcome.parts : undefined, now);
}

/** Makes a taken copy the current one again. `behind`: parts of the copy after it, if that may be taken too. */
function asCurrent(message: StoredMessage, taken: Copy, behind: readonly Part[] | undefined, now: Date): Change {
  const { claim: current, earlier = [] } = message;
  const { parts, ...claim } = taken;
  const others = earlier.filter(({ id }) => id !== taken.id);
  const after = current === undefined || behind === undefined ? [] : [{ ...current, parts: behind }];
  const change = sentWith(message, parts, now, [...others, ...after]);
  return { ...change, set: { ...change.set, claim } };
}

/** Removes a copy that was refused after all. A message that stayed open only for it ends as its current copy did. */
function withoutCopy(message: StoredMessage, rest: readonly Copy[], now: Date): Change {
  if (rest.length > 0) return { set: { earlier: rest } };
  if (!isHeldOpen(message)) return { unset: ['earlier'] };
  const state = message.errorCode === PARTIAL ? 'failed' : 'rejected';
  const entries = [entryAt(state, now, message.history)];
  return fitted(message, { state, unset: ['earlier', 'due', 'outcome'], entries });
}
