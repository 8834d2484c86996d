import { type Change, entryAt, fitted } from '../messages/change.ts';
import { isHeldOpen, isTaken, mayHaveLeft, unknownParts } from '../messages/copies.ts';
import type { Claim, Copy, Part, StoredMessage } from '../messages/message.ts';
import { isBeforeSent, STATES } from '../messages/status.ts';
import { sentWith } from './receipt-outcome.ts';

/**
 * What became of the submit of one message, all its segments together (a chat-app message is one part):
 * `sent`: all accepted · `partial`: some accepted, others refused for good · `rejected`: refused for good, nothing accepted ·
 * `retry`: refused for now · `throttled`: the carrier wants less, nothing accepted · `requeue`: nothing was written ·
 * `unknown`: something was written and its answer did not come.
 */
export type SubmitOutcome =
  | { readonly kind: 'sent'; readonly parts: readonly Part[] }
  | {
      readonly kind: 'partial' | 'rejected';
      readonly parts: readonly Part[];
      readonly code: string;
      readonly reason: string;
    }
  | ({ readonly kind: 'retry' | 'throttled' } & Refusal)
  | { readonly kind: 'unknown'; readonly parts: readonly Part[] }
  | { readonly kind: 'requeue' };

/** Why a message was refused for now. */
interface Refusal {
  readonly code: string;
  readonly reason: string;
  /** Tries until it is rejected; `MAX_TRIES` unless told. */
  readonly maxTries?: number;
  /** The try does not count: it was made to see whether the other side is back. */
  readonly uncounted?: true;
}

/** Temporary refusals until a message is rejected. */
export const MAX_TRIES = 5;
/** Throttled submits of one message that count as one try: some carriers say "throttled" of a single recipient. */
export const THROTTLES_PER_TRY = 20;
/** Some segments were taken, others refused for good. */
const PARTIAL = 'partial';
const FIRST_RETRY_MS = 5_000;
const RETRY_FACTOR = 3;
/** Part of a retry's wait that is random, so that what failed together does not come back together. */
const RETRY_JITTER = 0.2;

/**
 * The change that an outcome makes; undefined when there is nothing left to change: the message was claimed by someone else since,
 * or ended. An outcome of an earlier copy (its answer came late) is told by its claim. `random` from 0 to 1.
 */
export function decideOutcome(
  message: StoredMessage,
  claim: Pick<Claim, 'id' | 'epoch'>,
  outcome: SubmitOutcome,
  now: Date,
  random: number,
): Change | undefined {
  const copy = message.earlier?.find((earlier) => isClaim(earlier, claim));
  if (copy !== undefined) return decideEarlier(message, copy, outcome, now);
  if (message.claim === undefined || !isClaim(message.claim, claim)) return undefined;
  // It had been put back into the queue, and nobody has claimed it yet: it need not go out again.
  if (message.state === 'queued' && outcome.kind === 'sent') return sentWith(message, outcome.parts, now);
  if (message.state !== 'submitting' || isHeldOpen(message)) return lateParts(message, outcome);
  const told = message.earlier?.find((copy) => isTaken(copy.parts));
  if (told !== undefined && outcome.kind !== 'sent' && outcome.kind !== 'unknown') {
    const parts = 'parts' in outcome && outcome.kind === 'partial' ? outcome.parts : undefined;
    return asCurrent(message, told, parts, now);
  }
  switch (outcome.kind) {
    case 'sent': {
      const { parts, others } = ownIds(mergeParts(message.parts, outcome.parts), message.earlier);
      return sentWith(message, parts, now, others);
    }
    case 'partial':
      return refuse(message, 'failed', { ...outcome, code: PARTIAL }, now);
    case 'rejected':
      return refuse(message, 'rejected', outcome, now);
    case 'retry':
      return tryAgain(message, outcome, now, random);
    case 'throttled': {
      const throttles = (message.throttles ?? 0) + 1;
      if (throttles % THROTTLES_PER_TRY === 0) {
        const change = tryAgain(message, outcome, now, random);
        return { ...change, set: { ...change.set, throttles } };
      }
      return { state: 'queued', set: { throttles }, ...clean(message) };
    }
    case 'requeue':
      return { state: 'queued', ...clean(message) };
    case 'unknown': {
      const parts = mergeParts(message.parts, outcome.parts);
      return message.outcome === 'unknown' && JSON.stringify(parts) === JSON.stringify(message.parts)
        ? undefined
        : { set: { outcome: 'unknown', parts } };
    }
  }
}

/**
 * What a late answer says of a copy that another one followed. Taken: the message is sent, and needs no copy more. Refused: the
 * copy never was. An ended message changes by receipts only; they find it by the ids that the answer told.
 */
function decideEarlier(message: StoredMessage, copy: Copy, outcome: SubmitOutcome, now: Date): Change | undefined {
  const { state, earlier = [] } = message;
  const rest = earlier.filter((other) => other !== copy);
  if (!('parts' in outcome) || outcome.kind === 'rejected') {
    const isTold = copy.parts.some(({ key }) => key !== undefined);
    return isTold || STATES[state].final ? undefined : withoutCopy(message, rest, now);
  }
  const { parts, others } = ownIds(mergeParts(copy.parts, outcome.parts), rest);
  if (JSON.stringify(parts) === JSON.stringify(copy.parts)) return undefined;
  const told = earlier.map((other) => (other === copy ? { ...copy, parts } : (others[rest.indexOf(other)] ?? other)));
  if (outcome.kind !== 'sent' || !isBeforeSent(state)) return { set: { earlier: told } };
  const behind =
    state === 'submitting' && !isHeldOpen(message) ? (message.parts ?? unknownParts(parts.length)) : undefined;
  return asCurrent({ ...message, earlier: others }, { ...copy, parts }, behind, now);
}

/** An earlier copy is the one that was taken: it is the current one again. `behind`: of the one after it, if that may be taken too. */
function asCurrent(message: StoredMessage, taken: Copy, behind: readonly Part[] | undefined, now: Date): Change {
  const { claim: current, earlier = [] } = message;
  const { parts, ...claim } = taken;
  const others = earlier.filter(({ id }) => id !== taken.id);
  const after = current === undefined || behind === undefined ? [] : [{ ...current, parts: behind }];
  const change = sentWith(message, parts, now, [...others, ...after]);
  return { ...change, set: { ...change.set, claim } };
}

/** A copy was refused after all. A message that was held open for it alone ends as its current copy did. */
function withoutCopy(message: StoredMessage, rest: readonly Copy[], now: Date): Change {
  if (rest.length > 0) return { set: { earlier: rest } };
  if (!isHeldOpen(message)) return { unset: ['earlier'] };
  const state = message.errorCode === PARTIAL ? 'failed' : 'rejected';
  const entries = [entryAt(state, now, message.history)];
  return fitted(message, { state, unset: ['earlier', 'due', 'outcome'], entries });
}

/** The end of a message that was refused for good; one of which an earlier copy may have been taken is held open for that. */
function refuse(
  message: StoredMessage,
  state: 'failed' | 'rejected',
  { parts: told, code, reason }: Refusal & { readonly parts: readonly Part[] },
  now: Date,
): Change {
  const set = { parts: mergeParts(message.parts, told), errorCode: code, errorReason: reason };
  if (mayHaveLeft(message)) return { set: { ...set, outcome: 'unknown' } };
  return { state, set, unset: ['due', 'outcome'], entries: [entryAt(state, now, message.history)] };
}

function tryAgain(
  message: StoredMessage,
  { code, reason, maxTries = MAX_TRIES, uncounted }: Refusal,
  now: Date,
  random: number,
): Change {
  const tries = message.tries + (uncounted ? 0 : 1);
  if (tries >= maxTries) {
    const { parts: _, ...bare } = message;
    const change = refuse(bare, 'rejected', { parts: [], code, reason }, now);
    return { ...change, set: { ...change.set, tries } };
  }
  const waitMs = FIRST_RETRY_MS * RETRY_FACTOR ** Math.max(tries - 1, 0) * (1 + RETRY_JITTER * (2 * random - 1));
  return {
    state: 'waiting',
    set: { tries, due: new Date(Math.min(now.getTime() + waitMs, message.validUntil.getTime())) },
    ...clean(message),
  };
}

/** An answer that came after policy or a receipt had settled the message: it still tells the ids that receipts will name. */
function lateParts(message: StoredMessage, outcome: SubmitOutcome): Change | undefined {
  if (outcome.kind !== 'sent' && outcome.kind !== 'unknown') return undefined;
  const { parts, others } = ownIds(mergeParts(message.parts, outcome.parts), message.earlier);
  if (JSON.stringify(parts) === JSON.stringify(message.parts ?? [])) return undefined;
  return { set: { parts, ...(others.length === 0 ? {} : { earlier: others }) } };
}

/** What a receipt told already is kept: an answer never takes a part back. */
function mergeParts(known: readonly Part[] | undefined, told: readonly Part[]): readonly Part[] {
  return told.map((part, i) => {
    const before = known?.[i];
    if (before === undefined) return part;
    if (before.key !== undefined && part.key !== undefined && before.key !== part.key) return before;
    // It was refused for now, and sent again. With an id it was taken first, and failed: a status came before this answer.
    if (before.state === 'refused' && before.key === undefined && part.state === 'accepted') return part;
    const settled = before.state !== 'unknown' && before.state !== 'accepted';
    return { ...part, ...before, ...(settled ? {} : { state: part.state === 'unknown' ? before.state : part.state }) };
  });
}

/**
 * Ids that an answer told, and that receipts, by their addresses, had been taken to tell of other copies: what they told is of
 * these parts, and of the others nothing is known.
 */
function ownIds(
  parts: readonly Part[],
  copies: readonly Copy[] = [],
): { readonly parts: readonly Part[]; readonly others: readonly Copy[] } {
  const keys = new Set(parts.map(({ key }) => key));
  const guessed = copies.flatMap((copy) => copy.parts).filter(({ key }) => key !== undefined && keys.has(key));
  if (guessed.length === 0) return { parts, others: copies };
  const unknown: Part = { state: 'unknown' };
  return {
    parts: parts.map((part) => guessed.find(({ key }) => key === part.key) ?? part),
    others: copies.map((copy) => ({
      ...copy,
      parts: copy.parts.map((part) => (guessed.includes(part) ? unknown : part)),
    })),
  };
}

function isClaim(copy: Claim, { id, epoch }: Pick<Claim, 'id' | 'epoch'>): boolean {
  return copy.id === id && copy.epoch === epoch;
}

/** Nothing was accepted: it starts from the beginning. */
function clean(message: StoredMessage): Pick<Change, 'unset'> {
  return message.outcome === undefined && message.parts === undefined ? {} : { unset: ['outcome', 'parts'] };
}
