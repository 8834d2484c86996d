import { listOfPath } from '../../carriers/routing/route.ts';
import { type Change, entryAt, fitted } from '../document/change.ts';
import { endState, isHeldOpen, isTaken, mayHaveLeft, unknownParts } from '../document/copies.ts';
import type { Claim, Copy, Part, StoredMessage } from '../document/message.ts';
import { isBeforeSent, STATES } from '../document/status.ts';

/**
 * The result of one message's submit, all its segments together. A chat-app message has one segment.
 *
 * - `sent`: all were accepted.
 * - `partial`: some were accepted, others were refused for good.
 * - `rejected`: refused for good, nothing was accepted.
 * - `failover`: this carrier refused it, nothing was accepted. `path` names the carriers that may still take it.
 * - `retry`: refused for now.
 * - `throttled`: the carrier wants us to slow down, nothing was accepted.
 * - `requeue`: nothing was written.
 * - `deferred`: nothing was written, and it may not leave before `until` (carriers/routing/daytime.ts).
 * - `unknown`: something was written, and its answer did not come.
 */
export type SubmitOutcome =
  /** `heldBack`: taken and not passed on yet, in the provider's word. */
  | { readonly kind: 'sent'; readonly parts: readonly Part[]; readonly heldBack?: string }
  | ({ readonly kind: 'partial' | 'rejected' } & Refusal)
  | { readonly kind: 'failover'; readonly path: string; readonly code: string; readonly reason: string }
  | ({ readonly kind: 'retry' | 'throttled' } & RefusalForNow)
  | { readonly kind: 'unknown'; readonly parts: readonly Part[] }
  | { readonly kind: 'requeue' }
  | { readonly kind: 'deferred'; readonly until: Date };

export interface Refusal {
  readonly parts: readonly Part[];
  readonly code: string;
  readonly reason: string;
}

export interface RefusalForNow {
  readonly code: string;
  readonly reason: string;
  /** After this many tries it is rejected. Default `MAX_TRIES`. */
  readonly maxTries?: number;
  /** The try does not count: it probed whether the other side is back, or the whole account was throttled. */
  readonly uncounted?: true;
  readonly pauseMs?: number;
  /** The path of the other carriers that may take it when all tries have failed. Absent: it is rejected then. */
  readonly path?: string;
}

/** After this many temporary refusals a message is rejected. */
export const MAX_TRIES = 5;
/** So many throttled submits count as one try: some carriers say "throttled" about a single recipient. */
export const THROTTLES_PER_TRY = 20;
/** `errorCode` of a message of which some segments were taken and others refused for good. */
const PARTIAL = 'partial';

const FIRST_RETRY_MS = 5_000;
const RETRY_FACTOR = 3;
/** Random part of a retry's wait, so that messages that failed together do not return together. */
const RETRY_JITTER = 0.2;

/**
 * The change that an outcome makes to its message. Undefined when there is none: another worker claimed the message
 * since, or it ended. The claim tells which copy a late answer is about. `random` from 0 to 1.
 */
export function decideOutcome(
  message: StoredMessage,
  claim: Pick<Claim, 'id' | 'epoch'>,
  outcome: SubmitOutcome,
  now: Date,
  random: number,
): Change | undefined {
  if (message.givenUp !== undefined && isClaim(message.givenUp, claim)) return undefined;
  const copy = message.earlier?.find((earlier) => isClaim(earlier, claim));
  if (copy !== undefined) return decideEarlier(message, copy, outcome, now);
  if (message.claim === undefined || !isClaim(message.claim, claim)) return undefined;
  // It was put back into the queue and not claimed since, so it need not be sent again.
  if (message.state === 'queued' && outcome.kind === 'sent') return sentWith(message, outcome.parts, now);
  if (message.state !== 'submitting' || isHeldOpen(message)) return lateParts(message, outcome);
  return fallBack(message, outcome, now) ?? decideCurrent(message, outcome, now, random);
}

function decideCurrent(message: StoredMessage, outcome: SubmitOutcome, now: Date, random: number): Change | undefined {
  switch (outcome.kind) {
    case 'sent': {
      const { parts, others } = ownIds(mergeParts(message.parts, outcome.parts), message.earlier);
      const change = sentWith(message, parts, now, others);
      return outcome.heldBack === undefined
        ? change
        : { ...change, set: { ...change.set, heldBack: outcome.heldBack } };
    }
    case 'partial':
      return refuse(message, 'failed', { ...outcome, code: PARTIAL }, now);
    case 'rejected':
      return refuse(message, 'rejected', outcome, now);
    case 'failover':
      return passOn(message, outcome, outcome.path, now);
    case 'retry':
      return tryAgain(message, outcome, now, random);
    case 'throttled':
      return throttled(message, outcome, now, random);
    case 'requeue':
      return { state: 'queued', ...clean(message) };
    case 'deferred':
      return defer(message, outcome.until);
    case 'unknown':
      return unanswered(message, outcome.parts);
  }
}

/** If an earlier copy may have been taken, the message stays open for it. */
function refuse(
  message: StoredMessage,
  wanted: 'failed' | 'rejected',
  { parts: told, code, reason }: Refusal,
  now: Date,
): Change {
  // `rejected` says that no carrier took it.
  const state = message.givenUp === undefined ? wanted : 'failed';
  const set = { parts: mergeParts(message.parts, told), errorCode: code, errorReason: reason };
  if (mayHaveLeft(message)) return { set: { ...set, outcome: 'unknown' } };
  return { state, set, unset: ['due', 'outcome'], entries: [entryAt(state, now, message.history)] };
}

/**
 * The carrier took nothing, so the message goes back to the queue for the other carriers of its route. An earlier copy
 * in doubt does not prevent that: the policy is to send again (docs/decisions/0009).
 */
function passOn(message: StoredMessage, { code, reason }: Omit<Refusal, 'parts'>, path: string, now: Date): Change {
  const { claim, attempts = [] } = message;
  if (claim === undefined) return refuse(message, 'rejected', { parts: [], code, reason }, now);
  const attempt = { carrier: claim.carrier, at: claim.at, code, reason };
  return { state: 'queued', set: { path, attempts: [...attempts, attempt], tries: 0 }, ...clean(message) };
}

function tryAgain(
  message: StoredMessage,
  { code, reason, maxTries = MAX_TRIES, uncounted, pauseMs = FIRST_RETRY_MS, path }: RefusalForNow,
  now: Date,
  random: number,
): Change {
  const tries = message.tries + (uncounted ? 0 : 1);
  const waitMs = pauseMs * RETRY_FACTOR ** Math.max(tries - 1, 0);
  if (path !== undefined && (tries >= maxTries || isLongerThanRoute(path, tries, pauseMs))) {
    return passOn(message, { code, reason }, path, now);
  }
  if (tries >= maxTries) {
    const { parts: _, ...bare } = message;
    const change = refuse(bare, 'rejected', { parts: [], code, reason }, now);
    return { ...change, set: { ...change.set, tries } };
  }
  const dueMs = now.getTime() + waitMs * (1 + RETRY_JITTER * (2 * random - 1));
  return {
    state: 'waiting',
    set: { tries, due: earlier(new Date(dueMs), message.validUntil) },
    ...clean(message),
  };
}

/** Whether the pauses up to the next try add up to more than the route lets a message wait for one carrier. */
function isLongerThanRoute(path: string, tries: number, pauseMs: number): boolean {
  const waitsMs = (pauseMs * (RETRY_FACTOR ** tries - 1)) / (RETRY_FACTOR - 1);
  return waitsMs > (listOfPath(path)?.waitSeconds ?? Infinity) * 1_000;
}

/** No carrier had it, so the claim is removed, and no carrier's statistics count it. */
function defer({ validUntil }: StoredMessage, until: Date): Change {
  return { state: 'waiting', set: { due: earlier(until, validUntil) }, unset: ['claim', 'outcome', 'parts'] };
}

function throttled(message: StoredMessage, refusal: RefusalForNow, now: Date, random: number): Change {
  const throttles = (message.throttles ?? 0) + 1;
  if (refusal.uncounted || throttles % THROTTLES_PER_TRY !== 0)
    return { state: 'queued', set: { throttles }, ...clean(message) };
  const change = tryAgain(message, refusal, now, random);
  // The other carrier has not throttled it yet.
  return { ...change, set: { ...change.set, throttles: change.set?.path === undefined ? throttles : 0 } };
}

function unanswered(message: StoredMessage, told: readonly Part[]): Change | undefined {
  const parts = mergeParts(message.parts, told);
  const isKnown = message.outcome === 'unknown' && message.parts !== undefined && sameParts(parts, message.parts);
  return isKnown ? undefined : { set: { outcome: 'unknown', parts } };
}

/** The policy or a receipt settled the message before, but the answer still brings the ids that receipts will name. */
function lateParts(message: StoredMessage, outcome: SubmitOutcome): Change | undefined {
  if (outcome.kind !== 'sent' && outcome.kind !== 'unknown') return undefined;
  const { parts, others } = ownIds(mergeParts(message.parts, outcome.parts), message.earlier);
  if (sameParts(parts, message.parts ?? [])) return undefined;
  return { set: { parts, ...(others.length === 0 ? {} : { earlier: others }) } };
}

function isClaim(copy: Claim, { id, epoch }: Pick<Claim, 'id' | 'epoch'>): boolean {
  return copy.id === id && copy.epoch === epoch;
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

/** Nothing was accepted, so no trace of this try stays. */
function clean(message: StoredMessage): Pick<Change, 'unset'> {
  return message.outcome === undefined && message.parts === undefined ? {} : { unset: ['outcome', 'parts'] };
}

/**
 * The change from a late answer about an earlier copy. Taken: the message is sent and needs no further copy. Refused:
 * the copy is removed. Only receipts change an ended message; they find it by the ids in the answer.
 */
function decideEarlier(message: StoredMessage, copy: Copy, outcome: SubmitOutcome, now: Date): Change | undefined {
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
 * The current copy was refused or not written, and an earlier one was taken completely: the message is sent by that
 * one. Undefined when there is none, or when the current one may have been taken too.
 */
function fallBack(message: StoredMessage, outcome: SubmitOutcome, now: Date): Change | undefined {
  const taken = message.earlier?.find((copy) => isTaken(copy.parts));
  if (taken === undefined || outcome.kind === 'sent' || outcome.kind === 'unknown') return undefined;
  return asCurrent(message, taken, outcome.kind === 'partial' ? outcome.parts : undefined, now);
}

/** `behind`: parts of the copy after it, if that may be taken too. */
function asCurrent(message: StoredMessage, taken: Copy, behind: readonly Part[] | undefined, now: Date): Change {
  const { claim: current, earlier = [] } = message;
  const { parts, ...claim } = taken;
  const others = earlier.filter(({ id }) => id !== taken.id);
  const after = current === undefined || behind === undefined ? [] : [{ ...current, parts: behind }];
  const change = sentWith(message, parts, now, [...others, ...after]);
  return { ...change, set: { ...change.set, claim } };
}

/** The copy was refused after all. A message that stayed open only for it ends as its current copy did. */
function withoutCopy(message: StoredMessage, rest: readonly Copy[], now: Date): Change {
  if (rest.length > 0) return { set: { earlier: rest } };
  if (!isHeldOpen(message)) return { unset: ['earlier'] };
  const state = message.errorCode === PARTIAL ? 'failed' : 'rejected';
  const entries = [entryAt(state, now, message.history)];
  return fitted(message, { state, unset: ['earlier', 'due', 'outcome'], entries });
}

/**
 * An answer never reverts what an earlier receipt said. Such a receipt may have given its id to the wrong segment; the
 * answer then puts both in their place.
 */
function mergeParts(known: readonly Part[] = [], answered: readonly Part[]): readonly Part[] {
  const isElsewhere = ({ key }: Part): boolean =>
    key !== undefined && answered.some((part, i) => part.key === key && known[i]?.key !== key);
  return answered.map((part, i) => {
    const here = known[i];
    const own = part.key === undefined || part.key === here?.key ? here : known.find(({ key }) => key === part.key);
    const before = own ?? here;
    if (before === undefined || (before.key !== part.key && isElsewhere(before))) return part;
    return mergePart(before, part);
  });
}

function mergePart(before: Part, part: Part): Part {
  if (before.key !== undefined && part.key !== undefined && before.key !== part.key) return before;
  // Refused for now and sent again. But a refused part with an id was taken first and failed later: its status came
  // before this answer.
  if (before.state === 'refused' && before.key === undefined && part.state === 'accepted') return part;
  const settled = before.state !== 'unknown' && before.state !== 'accepted';
  return { ...part, ...before, ...(settled ? {} : { state: part.state === 'unknown' ? before.state : part.state }) };
}

export interface OwnIds {
  readonly parts: readonly Part[];
  readonly others: readonly Copy[];
}

/**
 * An answer reveals ids. An earlier receipt with one of them may have been matched, by addresses, to another copy: its
 * news moves to the answered parts (`parts`), and the wrong part has none again (`others`).
 */
function ownIds(parts: readonly Part[], copies: readonly Copy[] = []): OwnIds {
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

/** The members of stored parts have a fixed order. */
function sameParts(one: readonly Part[], other: readonly Part[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Fields of a message whose submit is unknown, or that an earlier copy keeps open after a refusal. */
export const OPEN_FIELDS = ['outcome', 'errorCode', 'errorReason'] as const;

/** Counts as sent by an answer, a status or the policy. Earlier receipts may have reported its end. */
export function sentWith(
  message: StoredMessage,
  parts: readonly Part[],
  now: Date,
  earlier: readonly Copy[] = message.earlier ?? [],
): Change {
  // Another carrier had taken it before, and gave it up.
  const isTold = message.history.some(({ state }) => state === 'sent');
  const sent = isTold ? [] : [entryAt('sent', now, message.history)];
  const final = endState(earlier, parts);
  const set = { parts, ...(earlier.length === 0 ? {} : { earlier }) };
  const unset = [...(earlier.length === 0 ? (['earlier'] as const) : []), ...OPEN_FIELDS];
  if (final === undefined) return fitted(message, { state: 'sent', set, unset, entries: sent });
  const partial = parts.some(({ state }) => state === 'refused');
  const told = [...parts, ...earlier.flatMap((copy) => copy.parts)];
  const error = partial ? 'partial' : told.find(({ state }) => state === final)?.error;
  const ended = {
    ...(final === 'delivered' ? { deliveredAt: now } : {}),
    ...(final === 'delivered' || error === undefined ? {} : { errorCode: error }),
    ...(final !== 'delivered' && partial ? { errorReason: 'The carrier refused a segment' } : {}),
  };
  const entries = [...sent, entryAt(final, now, [...message.history, ...sent])];
  return fitted(message, { state: final, set: { ...set, ...ended }, unset: [...unset, 'due'], entries });
}
