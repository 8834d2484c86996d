import type { ReceiptParts } from '../../../shared/carriers/receipt-profiles.ts';
import { type Change, entryAt, fitted } from '../../../shared/messages/document/change.ts';
import {
  endState,
  hasEnded,
  isHeldOpen,
  isOpen,
  isOpenPart,
  isTaken,
  isUnanswered,
  unknownParts,
} from '../../../shared/messages/document/copies.ts';
import type {
  Claim,
  Copy,
  FinalState,
  HistoryEntry,
  MessageDocument,
  MessageState,
  Part,
  PartState,
  StoredMessage,
} from '../../../shared/messages/document/message.ts';
import { isBeforeSent, isNext, mayBecome } from '../../../shared/messages/document/status.ts';
import { OPEN_FIELDS } from '../../../shared/messages/settlement/decide-outcome.ts';
import type { PartReceipt, ReceiptRecord } from '../../../shared/messages/settlement/message-log.ts';
import type { Hit } from './receipt-lookup.ts';
import { type IncomingReceipt, keysOf, mayMeanCopy } from './receipt-match.ts';

export interface MatchedReceipt {
  readonly receipt: IncomingReceipt;
  readonly hit: Hit;
}

export interface ReceiptRules {
  readonly carrier: string;
  readonly parts: ReceiptParts;
  readonly holdMinutes: number;
  /** How many submit_sm the message is at the carrier. */
  submitsOf(message: MessageDocument): number;
  /** For people. `error` is absent when the receipt had a state and no error. */
  reasonOf(state: string, error: string | undefined, word: string): string | undefined;
  /** When a message goes to the next carrier of its route. Absent: no receipt sends one there. */
  readonly failover?: ReceiptFailover;
}

interface ReceiptFailover {
  /** Errors that surely mean: never delivered (the carrier's setting `receiptFailover`). */
  readonly errors: readonly string[];
  /** The path to another carrier of the message's route; undefined when none will take it soon. */
  next(message: MessageDocument): string | undefined;
}

/** Pure. */
export function changeOf(
  message: MessageDocument,
  matched: MatchedReceipt,
  rules: ReceiptRules,
  now: Date,
): { readonly change: Change | undefined; readonly result: ReceiptRecord['result'] } {
  const decision = withReason(decide(message, matched, rules, now), rules);
  const change = decision.kind === 'none' ? undefined : decision.change;
  const onward = change && rules.failover && nextCarrier(message, change, rules.failover, now);
  if (onward !== undefined) return { change: onward, result: 'failover' };
  return {
    change,
    result: resultOf(matched, decision),
  };
}

/**
 * The change that, in place of the end, sends a message to the next carrier of its route, because every segment has an
 * error that surely means: never delivered. Once, within the route's time, and never while another copy may be under
 * way. The recipient gets it twice if the carrier was wrong (docs/decisions/0054).
 */
function nextCarrier(
  message: MessageDocument,
  end: Change,
  { errors, next }: ReceiptFailover,
  now: Date,
): Change | undefined {
  const { claim, routed, attempts = [], validUntil } = message;
  const seconds = routed?.receiptFailoverSeconds;
  if (seconds === undefined || claim === undefined || message.givenUp !== undefined) return undefined;
  // `submitting`: its answer never came, and this receipt settles it.
  if (message.state !== 'sent' && message.state !== 'submitting') return undefined;
  if (message.earlier !== undefined || validUntil <= now) return undefined;
  if (now.getTime() - claim.at.getTime() > seconds * 1_000) return undefined;
  const { state, entries = [], set = {} } = end;
  const { parts = [], errorCode: code, errorReason: reason = 'The carrier gave it up' } = set;
  if ((state !== 'failed' && state !== 'rejected') || code === undefined) return undefined;
  const isSure = ({ state: ended, error = '' }: Part): boolean =>
    (ended === 'failed' || ended === 'rejected') && errors.some((one) => bare(one) === bare(error));
  const path = parts.length > 0 && parts.every(isSure) ? next(message) : undefined;
  if (path === undefined) return undefined;
  return fitted(message, {
    state: 'queued',
    set: {
      ...{ path, tries: 0, due: validUntil },
      attempts: [...attempts, { carrier: claim.carrier, at: claim.at, code, reason }],
      givenUp: { ...claim, parts },
    },
    unset: ['parts', 'held', 'throttles', 'outcome'],
    entries: entries.filter((entry) => entry.state === 'sent'),
  });
}

/** Carriers write numbers with zeros before them, their documents without. */
function bare(error: string): string {
  return error.replace(/^0+(?=\d)/, '');
}

/** Adds the reason of the error code, which may be that of another segment, whose receipt came earlier. */
function withReason(decision: ReceiptDecision, rules: ReceiptRules): ReceiptDecision {
  if (decision.kind === 'none') return decision;
  const { state, set: { errorCode, errorReason, parts = [], earlier = [] } = {} } = decision.change;
  if (state === undefined || errorCode === undefined || errorReason !== undefined) return decision;
  const isStateNumber = failedPart(state, { parts, earlier })?.isStateNumber === true;
  const reason = rules.reasonOf(state, isStateNumber ? undefined : errorCode, errorCode);
  if (reason === undefined) return decision;
  return { kind: 'change', change: { ...decision.change, set: { ...decision.change.set, errorReason: reason } } };
}

function decide(
  message: MessageDocument,
  { receipt, hit }: MatchedReceipt,
  rules: ReceiptRules,
  now: Date,
): ReceiptDecision {
  const { part } = receipt;
  if (part.effect === 'ignore') return { kind: 'none' };
  if (part.effect === 'hold') {
    return decideHeld(message, hit.key, part, new Date(now.getTime() + rules.holdMinutes * 60_000), rules.parts);
  }
  if (hit.byAddress !== true || keysOf(message).has(hit.key)) {
    return decideReceipt(message, hit.key, part, now, rules.parts);
  }
  const mayMean = (copy: Claim): boolean => mayMeanCopy(copy, receipt, rules.carrier);
  return decideUnknown(message, hit.key, part, now, mayMean, rules.submitsOf(message));
}

function resultOf({ receipt, hit }: MatchedReceipt, { kind }: ReceiptDecision): ReceiptRecord['result'] {
  if (receipt.part.effect === 'ignore') return 'ignored';
  if (kind === 'none') return 'duplicate';
  if (receipt.part.effect === 'hold') return 'held';
  return hit.byAddress === true ? 'unknown_settled' : 'matched';
}

/** `none`: the receipt is a repeat, or says less than an earlier one. */
type ReceiptDecision = { readonly kind: 'change'; readonly change: Change } | { readonly kind: 'none' };

/** The carrier's clock may be this far ahead of ours. */
const MAX_AHEAD_MS = 5 * 60_000;
/** The dates of receipts often have no seconds. */
const MAX_BEFORE_MS = 60_000;

interface Copies {
  readonly parts: readonly Part[];
  readonly earlier: readonly Copy[];
}

/**
 * The change that a receipt makes to the parts with its id, in any copy: usually one part, but some carriers give all
 * segments the same id, and with some one receipt is about all parts of the copy (`rule`). A state never goes
 * backwards. A message ends when its last part ends, or when one copy is delivered.
 */
export function decideReceipt(
  message: MessageDocument,
  key: string,
  receipt: PartReceipt,
  now: Date,
  rule: ReceiptParts = 'perPart',
): ReceiptDecision {
  const after = afterReceipt(
    copiesOf(message),
    receipt,
    (part, parts) => isMeant(part, parts, key, rule) && mayReplace(part.state, receipt.state),
  );
  return after === undefined ? { kind: 'none' } : { kind: 'change', change: withCopies(message, after, receipt, now) };
}

/**
 * The change that a receipt with an unknown id makes to the only message that its addresses fit. The id goes to the
 * first part without one, in the oldest copy that the receipt may mean (`mayMean`). A copy of which nothing is known
 * has as many parts as the message is `submits` at the carrier.
 */
export function decideUnknown(
  message: MessageDocument,
  key: string,
  receipt: PartReceipt,
  now: Date,
  mayMean: (copy: Claim) => boolean = () => true,
  submits = message.segments,
): ReceiptDecision {
  const { parts, earlier } = copiesOf(message);
  const never = unknownParts(submits);
  const index = earlier.findIndex((copy) => isOpen(copy.parts) && mayMean(copy));
  const copy = earlier[index];
  if (copy !== undefined) {
    const before = copy.parts.every(isOpenPart) ? never : copy.parts;
    const after = { parts, earlier: earlier.with(index, { ...copy, parts: withFirst(before, key, receipt) }) };
    return { kind: 'change', change: withCopies(message, after, receipt, now) };
  }
  const known = message.parts ?? never;
  if (!isUnanswered(message) || !isOpen(known) || message.claim === undefined || !mayMean(message.claim)) {
    return { kind: 'none' };
  }
  const after = { parts: withFirst(known, key, receipt), earlier };
  return { kind: 'change', change: withCopies(message, after, receipt, now) };
}

function copiesOf({ parts = [], earlier = [] }: StoredMessage): Copies {
  return { parts, earlier };
}

/**
 * The change of a receipt whose word does not say how the parts with its id ended. They wait until `until` for a better
 * one, together with parts that wait already. Only a `sent` message waits: in another state something else is still
 * expected, or the message has ended.
 */
export function decideHeld(
  message: MessageDocument,
  key: string,
  { error, isStateNumber, reason }: PartReceipt,
  until: Date,
  rule: ReceiptParts = 'perPart',
): ReceiptDecision {
  const { parts, earlier } = copiesOf(message);
  const before = message.held ?? {
    keys: [],
    ...(error && { error }),
    ...(isStateNumber && { isStateNumber }),
    ...(reason && { reason }),
  };
  if (message.state !== 'sent' || before.keys === undefined) return { kind: 'none' };
  const meant = [parts, ...earlier.map((copy) => copy.parts)].flatMap((copy) =>
    copy.filter((part) => isMeant(part, copy, key, rule) && part.state !== 'refused' && !hasEnded(part.state)),
  );
  const keys = new Set([...before.keys, ...meant.flatMap((part) => part.key ?? [])]);
  if (keys.size === before.keys.length) return { kind: 'none' };
  return { kind: 'change', change: { set: { held: { ...before, until, keys: [...keys] }, due: until } } };
}

function isMeant(part: Part, parts: readonly Part[], key: string, rule: ReceiptParts): boolean {
  return part.key === key || (!isOpenPart(part) && speaksForAll(parts, key, rule));
}

/** Whether the receipt for the segment with this id is about all segments. */
function speaksForAll(parts: readonly Part[], key: string, rule: ReceiptParts): boolean {
  switch (rule) {
    case 'perPart':
      return false;
    case 'first':
      return parts[0]?.key === key;
    case 'last':
      return parts.at(-1)?.key === key;
    case 'any':
      // A second receipt is only about its own segment, because the first was not the only one.
      return parts.some((part) => part.key === key) && parts.every(({ state }) => !hasEnded(state));
  }
}

/** Undefined when the receipt says nothing new about the parts for which `meant` is true. */
function afterReceipt(
  { parts, earlier }: Copies,
  receipt: PartReceipt,
  meant: (part: Part, copy: readonly Part[]) => boolean,
): Copies | undefined {
  let isNew = false;
  const changed = (part: Part, _: number, copy: readonly Part[]): Part => {
    if (!meant(part, copy)) return part;
    isNew = true;
    return partAfter(part, receipt);
  };
  const after = {
    parts: parts.map(changed),
    earlier: earlier.map((copy) => ({ ...copy, parts: copy.parts.map(changed) })),
  };
  return isNew ? after : undefined;
}

/** The first part without an id gets the receipt's. */
function withFirst(parts: readonly Part[], key: string, receipt: PartReceipt): readonly Part[] {
  return parts.with(parts.findIndex(isOpenPart), partAfter({ key, state: 'unknown' }, receipt));
}

/** The error of an earlier receipt does not stay with a part that arrived after all. */
function partAfter({ key, caseless }: Part, { state, error, isStateNumber }: PartReceipt): Part {
  return {
    ...(key === undefined ? {} : { key }),
    ...(caseless === undefined ? {} : { caseless }),
    state,
    ...(error === undefined ? {} : { error }),
    ...(isStateNumber === undefined ? {} : { isStateNumber }),
  };
}

/** The part whose error is that of the message. */
function failedPart(state: MessageState, { parts, earlier }: Copies): Part | undefined {
  const all = [...parts, ...earlier.flatMap((copy) => copy.parts)];
  return all.find((part) => part.state === state && part.error !== undefined);
}

function withCopies(message: MessageDocument, { parts, earlier }: Copies, receipt: PartReceipt, now: Date): Change {
  const before = isBeforeSent(message.state);
  // A message that does not count as sent yet: a copy says something about it only if all its parts were accepted.
  const known = before && !isTaken(parts) ? [] : parts;
  const final = endState(earlier, known);
  const wasTaken = isTaken(known) || earlier.some((copy) => isTaken(copy.parts));
  // The current copy may still arrive. That matters unless an earlier copy was delivered.
  const waits = message.state === 'submitting' && !isHeldOpen(message) && !isTaken(parts) && final !== 'delivered';
  const entries: HistoryEntry[] = before && wasTaken && !waits ? [entryAt('sent', now, message.history)] : [];
  const state = entries.length > 0 ? 'sent' : message.state;
  const history = [...message.history, ...entries];
  const set = {
    ...(message.parts === undefined && parts.length === 0 ? {} : { parts }),
    ...(earlier.length === 0 ? {} : { earlier }),
  };
  if (isBeforeSent(state)) {
    // The operator is stored now: an answer or policy that ends the message later does not know who delivered it.
    return { set: receipt.state === 'delivered' ? { ...set, operator: receipt.operator } : set };
  }
  if (final === undefined || !mayBecome(state, final, history, now)) {
    if (entries.length === 0) return { set };
    return fitted(message, { state, set, unset: OPEN_FIELDS, entries });
  }
  entries.push(entryAt(final, now, history));
  const ended = finalFields(final, { parts, earlier }, receipt, message, now);
  return fitted(message, { state: final, set: { ...set, ...ended }, unset: ['due', ...OPEN_FIELDS], entries });
}

function finalFields(
  final: FinalState,
  copies: Copies,
  receipt: PartReceipt,
  message: MessageDocument,
  now: Date,
): NonNullable<Change['set']> {
  if (final === 'delivered') {
    return { operator: receipt.operator, deliveredAt: deliveredAt(receipt.doneAt, message, now) };
  }
  const { error: code, isStateNumber } = failedPart(final, copies) ?? receipt;
  const reason = code === receipt.error && isStateNumber === receipt.isStateNumber ? receipt.reason : undefined;
  return {
    ...(code === undefined ? {} : { errorCode: code }),
    ...(reason === undefined ? {} : { errorReason: reason }),
  };
}

/** The carrier's time if it is plausible: after the first submit and not in the future. Otherwise now. */
function deliveredAt(done: Date | undefined, { earlier = [], claim }: MessageDocument, now: Date): Date {
  const sentMs = (earlier[0] ?? claim)?.at.getTime() ?? 0;
  if (done === undefined) return now;
  const doneMs = done.getTime();
  if (doneMs < sentMs - MAX_BEFORE_MS || doneMs > now.getTime() + MAX_AHEAD_MS) return now;
  return new Date(Math.min(Math.max(doneMs, sentMs), now.getTime()));
}

function mayReplace(state: PartState, next: FinalState): boolean {
  if (state === 'refused') return false;
  if (state === 'accepted' || state === 'unknown') return true;
  return isNext(state, next);
}
