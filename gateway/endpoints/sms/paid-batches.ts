import type { Db } from 'mongodb';
import { type BatchDocument, chunksOf } from '../../../shared/messages/batch.ts';
import { batchCollection, markPaid, readBatch, removeUnreleased } from '../../../shared/messages/batch-store.ts';
import type { AcceptOutcome } from '../../../shared/money/payment/accept.ts';
import { readPaid } from '../../../shared/money/payment/pending.ts';
import { type FindOne, findCommitted, findNow } from '../../../shared/platform/mongo/find-one.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import type { AccountId, BatchId, GroupId } from '../../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { PAY_WITHIN_MS } from '../../http/idempotency/key-store.ts';
import type { BulkOrder } from './bulk-order.ts';
import { type NewBatch, storeUnpaid } from './unpaid-store.ts';

/**
 * A batch that the account has paid for; undefined when there is none. The account is read before the batch: a
 * payment that is no longer pending then has already marked its batch as paid. Writes nothing: what is shown may be
 * rolled back.
 */
export async function showPaidBatch(
  db: Db,
  account: AccountId,
  id: BatchId,
  find: FindOne = findNow,
): Promise<BatchDocument | undefined> {
  const paid = await readPaidBatches(db, account, find);
  const batch = await readBatch(db, account, id, find);
  // The batch of a schedule is not shown before it is released.
  if (batch?.state === 'booked') return undefined;
  if (batch === undefined || batch.state !== 'unpaid') return batch;
  return marked(batch, paid);
}

/**
 * The same for whoever acts on it: after the time to pay is over, undefined is final. If the gateway died right after the
 * debit, the batch is marked as paid here.
 */
export async function findPaidBatch(db: Db, account: AccountId, id: BatchId): Promise<BatchDocument | undefined> {
  const batch = await showPaidBatch(db, account, id, findCommitted);
  if (batch?.state === 'paid' && batch.group !== undefined) await markPaid(db, id, batch.group);
  return batch;
}

/**
 * The newest batches, `limit` at most, among those that are paid for and not marked as paid yet, as they will be then. Writes
 * nothing. Read this before those that are marked: one that is marked meanwhile is in both then. The other way round it would be in
 * none.
 */
export async function showUnmarked(
  db: Db,
  account: AccountId,
  isAsked: (id: BatchId) => boolean,
  limit: number,
): Promise<readonly BatchDocument[]> {
  const paid = await readPaidBatches(db, account, findNow);
  const newest = [...paid.keys()].filter(isAsked).sort().slice(-limit);
  if (newest.length === 0) return [];
  const unmarked = await batchCollection(db)
    .find({ _id: { $in: newest }, account, state: 'unpaid' })
    .batchSize(limit + 1)
    .toArray();
  return unmarked.flatMap((batch) => marked(batch, paid) ?? []);
}

type PaidBatches = ReadonlyMap<BatchId, GroupId>;

async function readPaidBatches(db: Db, account: AccountId, find: FindOne): Promise<PaidBatches> {
  const paid = [...(await readPaid(db, account, find))];
  return new Map(paid.flatMap(([group, { batch }]) => (batch === undefined ? [] : [[batch, group] as const])));
}

/** As `markPaid` leaves it; undefined when it is not paid for. */
function marked(batch: BatchDocument, paid: PaidBatches): BatchDocument | undefined {
  const group = paid.get(batch._id);
  return group === undefined ? undefined : { ...batch, state: 'paid', group };
}

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
