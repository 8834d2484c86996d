import { applyChange, type Change, joinChanges } from '../../../shared/messages/change.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { decideReceipt, decideUnknown } from '../../../shared/settlement/receipt-outcome.ts';
import type { Hit } from './receipt-lookup.ts';
import { type IncomingReceipt, keysOf, mayMeanCopy } from './receipt-match.ts';

export interface Found extends Hit {
  /** By its addresses, not by an id. */
  readonly byAddress: boolean;
}

/** A receipt of a group, by its place `i`, and the message that it means. */
export interface Told {
  readonly i: number;
  readonly receipt: IncomingReceipt;
  readonly hit: Found;
}

/** What several receipts for one message change, as one change, and which of them changed anything. Pure. */
export function changeOf(
  message: MessageDocument,
  told: readonly Told[],
  carrier: string,
  now: Date,
): { readonly change: Change | undefined; readonly settled: ReadonlySet<Told> } {
  const settled = new Set<Told>();
  let change: Change | undefined;
  let after = message;
  for (const one of told) {
    const { receipt, hit } = one;
    const decision =
      hit.byAddress && !keysOf(after).has(hit.key)
        ? decideUnknown(after, hit.key, receipt.part, now, (copy) => mayMeanCopy(copy, receipt, carrier))
        : decideReceipt(after, hit.key, receipt.part, now);
    if (decision.kind === 'none') continue;
    settled.add(one);
    change = change === undefined ? decision.change : joinChanges(change, decision.change);
    // Several changes are written as one: the version rises once.
    after = { ...applyChange(after, decision.change), v: message.v };
  }
  return { change, settled };
}
