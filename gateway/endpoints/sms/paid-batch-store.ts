import { BSON, type Db } from 'mongodb';
import {
  type BatchChunkDocument,
  type BatchDocument,
  type BatchEntry,
  batchCollection,
  chunksOf,
  insertChunks,
  markPaid,
  readBatch,
  removeUnreleased,
} from '../../../shared/messages/batch.ts';
import type { AcceptOutcome } from '../../../shared/money/payment/accept.ts';
import { readPaid } from '../../../shared/money/payment/pending.ts';
import { type FindOne, findCommitted, findNow } from '../../../shared/platform/mongo/find-one.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import type { AccountId, BatchId, GroupId } from '../../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { PAY_WITHIN_MS } from '../../http/idempotency/key-store.ts';

/**
 * A batch that the account has paid for, else undefined. The account is read before the batch: a payment that is no
 * longer pending then has already marked its batch as paid. Writes nothing, and may show what is rolled back later.
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

/** After the time to pay, undefined is final. If the gateway died right after the debit, marks the batch as paid. */
export async function findPaidBatch(db: Db, account: AccountId, id: BatchId): Promise<BatchDocument | undefined> {
  const batch = await showPaidBatch(db, account, id, findCommitted);
  if (batch?.state === 'paid' && batch.group !== undefined) await markPaid(db, id, batch.group);
  return batch;
}

/**
 * The newest batches, at most `limit`, that are paid for but not marked yet, shown as marked. Writes nothing. Read
 * these before the marked ones: a batch marked in between is then in both lists, otherwise in none.
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
 * Stores a batch with its recipients, then calls `pay`. A refused batch is removed before the answer. If the outcome is
 * unknown or the gateway dies, maintenance removes an unpaid batch after its time to pay
 * (workers/maintenance/prune-messages.ts). Rejects as `pay` does.
 */
export async function payForBatch(
  { db, clock, log }: Pick<GatewayDeps, 'db' | 'clock' | 'log'>,
  batch: NewBatch,
  entries: readonly BatchEntry[],
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

/**
 * Bytes of all unpaid batches of one account, over all gateways: six of the largest requests (10 MB), or hundreds with
 * 10,000 plain recipients. A batch is unpaid for some 50 ms, or half a minute if its gateway died.
 */
export const UNPAID_BYTES_MAX = 64 * 1024 * 1024;

export type NewBatch = Omit<BatchDocument, 'state' | 'open' | 'unpaid'>;

/**
 * Stores a batch with its recipients. It must be paid before `payBy` (by the store's time) or it is removed.
 *
 * `too_much_unpaid`: the account would hold more than `bytesMax` of unpaid batches; nothing stays stored. The batch is
 * counted after it is stored and before its recipients are, so of several stored at once the last one counted sees all
 * others, and the limit holds.
 *
 * Rejects with the store's error; what was stored by then is removed after `payBy`.
 */
export async function storeUnpaid(
  db: Db,
  batch: NewBatch,
  chunks: readonly BatchChunkDocument[],
  payBy: Date,
  bytesMax = UNPAID_BYTES_MAX,
): Promise<'stored' | 'too_much_unpaid'> {
  const bytes = chunks.reduce((sum, chunk) => sum + BSON.calculateObjectSize(chunk), BSON.calculateObjectSize(batch));
  await batchCollection(db).insertOne({ ...batch, state: 'unpaid', open: true, unpaid: { payBy, bytes } });
  if ((await unpaidBytes(db, batch.account)) > bytesMax) {
    await removeUnreleased(db, batch._id);
    return 'too_much_unpaid';
  }
  await insertChunks(db, chunks);
  return 'stored';
}

async function unpaidBytes(db: Db, account: AccountId): Promise<number> {
  const held = await batchCollection(db)
    .find({ account, state: 'unpaid' }, { projection: { _id: 0, 'unpaid.bytes': 1 } })
    .toArray();
  return held.reduce((sum, { unpaid }) => sum + (unpaid?.bytes ?? 0), 0);
}
