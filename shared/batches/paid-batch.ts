import type { PendingChange } from '../accounts/account.ts';
import { type BatchId, isBatchId } from '../runtime/ids.ts';

/** The batch that a debit paid for: its ledger entry refers to it. Undefined when it paid for messages. */
export function paidBatch({ reason, reference }: Pick<PendingChange, 'reason' | 'reference'>): BatchId | undefined {
  return reason === 'send' && reference !== undefined && isBatchId(reference) ? reference : undefined;
}
