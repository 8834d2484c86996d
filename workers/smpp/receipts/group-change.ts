import type { ReceiptParts } from '../../../shared/carriers/settings/receipts.ts';
import { applyChange, type Change, joinChanges } from '../../../shared/messages/change.ts';
import type { Claim, MessageDocument } from '../../../shared/messages/message.ts';
import type { ReceiptRecord } from '../../../shared/settlement/message-log.ts';
import type { Hit } from './receipt-lookup.ts';
import { type IncomingReceipt, keysOf, mayMeanCopy } from './receipt-match.ts';
import { decideHeld, decideReceipt, decideUnknown, failedPart, type ReceiptDecision } from './receipt-outcome.ts';

/** A receipt and the message that it means. `i` is the receipt's place in the group. */
export interface MatchedReceipt {
  readonly i: number;
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

/** The one change that several receipts make to one message, and what each receipt did. Pure. */
export function changeOf(
  message: MessageDocument,
  matched: readonly MatchedReceipt[],
  rules: ReceiptRules,
  now: Date,
): { readonly change: Change | undefined; readonly results: ReadonlyMap<MatchedReceipt, ReceiptRecord['result']> } {
  const results = new Map<MatchedReceipt, ReceiptRecord['result']>();
  let change: Change | undefined;
  let after = message;
  for (const [i, one] of matched.entries()) {
    const decision = withReason(decide(after, one, rules, now), rules);
    results.set(one, resultOf(one, decision));
    if (decision.kind === 'none') continue;
    change = change === undefined ? decision.change : joinChanges(change, decision.change);
    if (i === matched.length - 1) break;
    // All changes are written by one update, so the version rises only once.
    after = { ...applyChange(after, decision.change), v: message.v };
  }
  return { change, results };
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
