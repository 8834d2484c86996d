import type { ClaimId } from '../runtime/ids.ts';
import { type Change, entryAt } from './change.ts';
import type { Part, StoredMessage } from './message.ts';
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
const FIRST_RETRY_MS = 5_000;
const RETRY_FACTOR = 3;
/** Part of a retry's wait that is random, so that what failed together does not come back together. */
const RETRY_JITTER = 0.2;

/**
 * The change that an outcome makes; undefined when there is nothing left to change: the message was claimed by someone else since,
 * or ended. `random` from 0 to 1.
 */
export function decideOutcome(
  message: StoredMessage,
  claim: { readonly id: ClaimId; readonly epoch: number },
  outcome: SubmitOutcome,
  now: Date,
  random: number,
): Change | undefined {
  if (message.claim?.id !== claim.id || message.claim.epoch !== claim.epoch) return undefined;
  // The carrier's policy had put it back into the queue, and nobody has claimed it yet: it need not go out again.
  if (message.state === 'queued' && outcome.kind === 'sent') return sentWith(message, outcome.parts, now);
  if (message.state !== 'submitting') return lateKeys(message, outcome);
  switch (outcome.kind) {
    case 'sent':
      return sentWith(message, mergeParts(message.parts, outcome.parts), now);
    case 'partial':
    case 'rejected': {
      const state = outcome.kind === 'partial' ? 'failed' : 'rejected';
      const code = outcome.kind === 'partial' ? 'partial' : outcome.code;
      return {
        state,
        set: { parts: mergeParts(message.parts, outcome.parts), errorCode: code, errorReason: outcome.reason },
        unset: ['due', 'outcome'],
        entries: [entryAt(state, now, message.history)],
      };
    }
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

function tryAgain(
  message: StoredMessage,
  { code, reason, maxTries = MAX_TRIES, uncounted }: Refusal,
  now: Date,
  random: number,
): Change {
  const tries = message.tries + (uncounted ? 0 : 1);
  if (tries >= maxTries) {
    return {
      state: 'rejected',
      set: { tries, errorCode: code, errorReason: reason },
      unset: ['due', 'outcome', 'parts'],
      entries: [entryAt('rejected', now, message.history)],
    };
  }
  const waitMs = FIRST_RETRY_MS * RETRY_FACTOR ** Math.max(tries - 1, 0) * (1 + RETRY_JITTER * (2 * random - 1));
  return {
    state: 'waiting',
    set: { tries, due: new Date(Math.min(now.getTime() + waitMs, message.validUntil.getTime())) },
    ...clean(message),
  };
}

/** An answer that came after policy or a receipt had settled the message: it still tells the ids that receipts will name. */
function lateKeys(message: StoredMessage, outcome: SubmitOutcome): Change | undefined {
  if (outcome.kind !== 'sent' && outcome.kind !== 'unknown') return undefined;
  const parts = mergeParts(message.parts, outcome.parts);
  return JSON.stringify(parts) === JSON.stringify(message.parts ?? []) ? undefined : { set: { parts } };
}

/** What a receipt told already is kept: an answer never takes a part back. */
function mergeParts(known: readonly Part[] | undefined, told: readonly Part[]): readonly Part[] {
  return told.map((part, i) => {
    const before = known?.[i];
    if (before === undefined) return part;
    if (before.key !== undefined && part.key !== undefined && before.key !== part.key) return before;
    const settled = before.state !== 'unknown' && before.state !== 'accepted';
    return { ...part, ...before, ...(settled ? {} : { state: part.state === 'unknown' ? before.state : part.state }) };
  });
}

/** Nothing was accepted: it starts from the beginning. */
function clean(message: StoredMessage): Pick<Change, 'unset'> {
  return message.outcome === undefined && message.parts === undefined ? {} : { unset: ['outcome', 'parts'] };
}
