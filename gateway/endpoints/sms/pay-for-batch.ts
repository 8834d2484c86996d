import { chunksOf } from '../../../shared/messages/batch.ts';
import { removeUnreleased } from '../../../shared/messages/batch-store.ts';
import type { AcceptOutcome } from '../../../shared/money/payment/accept.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { PAY_WITHIN_MS } from '../../http/idempotency/key-claim.ts';
import type { BulkOrder } from './bulk-order.ts';
import { type NewBatch, storeUnpaid } from './unpaid-store.ts';

/**
 * Stores a batch with its recipients, then calls `pay`. A batch that is refused is removed before the answer. If the
 * outcome is unknown or the gateway dies, maintenance removes an unpaid batch when its time to pay is over
 * (workers/maintenance/pruning/batches.ts). Rejects as `pay` does.
 */
export async function payForBatch(
  { db, clock, log }: Pick<GatewayDeps, 'db' | 'clock' | 'log'>,
  batch: NewBatch,
  entries: BulkOrder['entries'],
  given: Date | undefined,
  pay: (payBy: Date) => Promise<AcceptOutcome>,
): Promise<AcceptOutcome | { readonly kind: 'too_much_unpaid' }> {
  const payBy = given ?? new Date(clock.now().getTime() + PAY_WITHIN_MS);
  const stored = await storeUnpaid(db, batch, chunksOf(batch._id, entries), payBy);
  if (stored === 'too_much_unpaid') return { kind: stored };
  crashPoint('bulk:stored');
  const outcome = await pay(payBy);
  if (outcome.kind === 'accepted' || outcome.kind === 'outcome_unknown' || outcome.mayStillPay) return outcome;
  try {
    await removeUnreleased(db, batch._id);
  } catch (error) {
    log.warn('refused_batch_not_removed', { batch: batch._id, ...errorFields(error) });
  }
  return outcome;
}
