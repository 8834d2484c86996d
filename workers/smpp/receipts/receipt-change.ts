import type { ReceiptParts } from '../../../shared/carriers/settings/receipts.ts';
import { type Change, fitted } from '../../../shared/messages/document/change.ts';
import type { Claim, MessageDocument, Part } from '../../../shared/messages/document/message.ts';
import type { ReceiptRecord } from '../../../shared/messages/settlement/message-log.ts';
import type { Hit } from './receipt-lookup.ts';
import { type IncomingReceipt, keysOf, mayMeanCopy } from './receipt-match.ts';
import { decideHeld, decideReceipt, decideUnknown, failedPart, type ReceiptDecision } from './receipt-outcome.ts';

/** A receipt and the message that it means. */
export interface MatchedReceipt {
  readonly receipt: IncomingReceipt;
  readonly hit: Hit;
}

/** How a carrier's receipts are applied. */
export interface ReceiptRules {
  readonly carrier: string;
  readonly parts: ReceiptParts;
  readonly holdMinutes: number;
  /** How many submit_sm the message is at the carrier. */
  submitsOf(message: MessageDocument): number;
  /** Explains to people what an earlier receipt said. `error` is absent when the receipt had a state and no error. */
  reasonOf(state: string, error: string | undefined, word: string): string | undefined;
  /** When a message goes to the next carrier of its route. Absent: no receipt sends one there. */
  readonly failover?: ReceiptFailover;
}

export interface ReceiptFailover {
  /** Errors that surely mean: never delivered (the carrier's setting `receiptFailover`). */
  readonly errors: readonly string[];
  /** The path to another carrier of the message's route; undefined when none will take it soon. */
  next(message: MessageDocument): string | undefined;
}

/** The change that a receipt makes to its message, and what it did. Pure. */
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
 * The change that sends a message to the next carrier of its route in place of its end, because every segment has an error that
 * surely means: never delivered. Once, within the route's time, and never while another copy may be under way. The recipient gets
 * it twice if the carrier was wrong (docs/decisions/0054).
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

/** Adds the reason of the error code. The code may be that of another segment, whose receipt came earlier. */
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
