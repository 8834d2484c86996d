import type { ReceiptParts } from '../../../shared/carriers/settings/receipts.ts';
import type { Change } from '../../../shared/messages/document/change.ts';
import type { Claim, MessageDocument } from '../../../shared/messages/document/message.ts';
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
}

/** The change that a receipt makes to its message, and what it did. Pure. */
export function changeOf(
  message: MessageDocument,
  matched: MatchedReceipt,
  rules: ReceiptRules,
  now: Date,
): { readonly change: Change | undefined; readonly result: ReceiptRecord['result'] } {
  const decision = withReason(decide(message, matched, rules, now), rules);
  return {
    change: decision.kind === 'none' ? undefined : decision.change,
    result: resultOf(matched, decision),
  };
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
