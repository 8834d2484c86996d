import type { Collection, Db, Filter } from 'mongodb';
import { type FindOne, findNow } from '../platform/mongo/find-one.ts';
import type { AccountId, BatchId, GroupId } from '../platform/runtime/ids.ts';
import { type BatchChunkDocument, type BatchCounts, type BatchDocument, chunkId, type StopGroup } from './batch.ts';

export function batchCollection(db: Db): Collection<BatchDocument> {
  return db.collection('batches');
}

export function chunkCollection(db: Db): Collection<BatchChunkDocument> {
  return db.collection('batch_chunks');
}

/** Stores the recipients of a batch. The batch must exist first: only the hourly walk finds chunks without a batch (prune.ts). */
export async function insertChunks(db: Db, chunks: readonly BatchChunkDocument[]): Promise<void> {
  // The driver serializes a command in one go: milliseconds for a chunk with params, much less for a plain one.
  const groups = chunks.some(({ params }) => params !== undefined) ? chunks.map((chunk) => [chunk]) : [chunks];
  for (const group of groups) await chunkCollection(db).insertMany(group);
}

/** Follow-up of the debit `group`. Repeating it changes nothing, also long afterwards. */
export async function markPaid(db: Db, id: BatchId, group: GroupId): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: 'unpaid' },
    { $set: { state: 'paid', group }, $unset: { unpaid: '' } },
  );
}

/**
 * Follow-up of booking: the batches wait for their time and are not pruned. Repeating it changes nothing, also long afterwards.
 */
export async function markBooked(db: Db, ids: readonly BatchId[]): Promise<void> {
  if (ids.length === 0) return;
  await batchCollection(db).updateMany(
    { _id: { $in: ids }, state: 'unpaid' },
    { $set: { state: 'booked' }, $unset: { open: '', unpaid: '' } },
  );
}

/** Releases a booked batch as if it were paid now. Repeating it changes nothing, also long afterwards. */
export async function releaseBooked(db: Db, id: BatchId, group: GroupId, validUntil: Date): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['unpaid', 'booked'] } },
    { $set: { state: 'paid', group, validUntil, open: true }, $unset: { unpaid: '' } },
  );
}

/** Removes a batch that was never released, with its recipients. The caller ensures that nobody releases it. Idempotent. */
export async function removeUnreleased(db: Db, id: BatchId): Promise<void> {
  await removeChunks(db, id);
  await batchCollection(db).deleteOne({ _id: id, state: { $in: ['unpaid', 'booked'] } });
}

/** A batch of the account in any state. */
export async function readBatch(
  db: Db,
  account: AccountId,
  id: BatchId,
  find: FindOne = findNow,
): Promise<BatchDocument | undefined> {
  return (await find(batchCollection(db), { _id: id, account })) ?? undefined;
}

/** The chunk that holds entry `index`; undefined when the batch's chunks are removed. */
export async function readChunk(db: Db, batch: BatchDocument, index: number): Promise<BatchChunkDocument | undefined> {
  const id = chunkId(batch._id, Math.floor(index / batch.perChunk));
  return (await chunkCollection(db).findOne({ _id: id })) ?? undefined;
}

/**
 * Reserves the next entries: the batch as it is then. Call it when nothing reserved is left to be made. A compare-and-set: undefined
 * when another worker was faster, or the batch was stopped. So only who gets an answer may take it that nobody has tried to make them.
 */
export async function reserveNext(db: Db, batch: BatchDocument): Promise<BatchDocument | undefined> {
  const { _id, reserved: done, total, perChunk } = batch;
  const reserved = Math.min(done + perChunk, total);
  const { modifiedCount } = await batchCollection(db).updateOne(
    { _id, state: 'paid', done, reserved: done },
    { $set: { reserved } },
  );
  return modifiedCount === 1 ? { ...batch, done, reserved } : undefined;
}

/** Records that all reserved entries were made. With the last ones the batch is split. May be repeated. */
export async function markMade(db: Db, { _id, reserved, total }: BatchDocument): Promise<void> {
  await batchCollection(db).updateOne(
    { _id, state: 'paid', reserved },
    { $set: { done: reserved, ...(reserved === total ? { state: 'split' } : {}) } },
  );
}

/** The batches among `ids` that are stopped or being stopped. */
export async function findStopped(db: Db, ids: readonly BatchId[]): Promise<ReadonlySet<BatchId>> {
  const stopped = await batchCollection(db)
    .find({ _id: { $in: [...ids] }, state: { $in: ['stopping', 'stopped'] } }, { projection: { _id: 1 } })
    .toArray();
  return new Set(stopped.map(({ _id }) => _id));
}

/** Decides that no further message of a paid batch is sent. Idempotent. */
export async function beginStop(db: Db, id: BatchId): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['paid', 'split'] } },
    { $set: { state: 'stopping', open: true } },
  );
}

/** The batches among `ids` that have no message counts yet. */
export async function findUncounted(db: Db, ids: readonly BatchId[]): Promise<readonly BatchId[]> {
  if (ids.length === 0) return [];
  const uncounted = await batchCollection(db)
    .find({ _id: { $in: [...ids] }, counts: { $exists: false } }, { projection: { _id: 1 } })
    .toArray();
  return uncounted.map(({ _id }) => _id);
}

/** Stores the counts of a batch whose messages have ended and whose work is done. Idempotent. */
export async function keepCounts(db: Db, id: BatchId, counts: BatchCounts): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['split', 'stopped'] }, open: { $exists: false }, counts: { $exists: false } },
    { $set: { counts } },
  );
}

/**
 * Decides the next stop group: messages that are cancelled and refunded together. Call it when all follow-up of the `groups`
 * before it is done. A compare-and-set: false when another process has decided a group since.
 */
export async function decideStopGroup(db: Db, id: BatchId, groups: number, group: StopGroup): Promise<boolean> {
  const { matchedCount } = await batchCollection(db).updateOne(
    { _id: id, ...decided(groups) },
    { $set: { stopGroups: groups + 1, stopGroup: group } },
  );
  return matchedCount === 1;
}

/**
 * Ends a stop: everything that had not left is cancelled and refunded, in `groups` groups. Idempotent. False when another process
 * has decided a further group since.
 */
export async function endStop(db: Db, id: BatchId, groups: number, stopped: number): Promise<boolean> {
  const { matchedCount } = await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['stopping', 'stopped'] }, ...decided(groups) },
    { $set: { state: 'stopped', stopped }, $unset: { stopGroup: '' } },
  );
  return matchedCount === 1;
}

function decided(groups: number): Filter<BatchDocument> {
  return { stopGroups: groups === 0 ? { $exists: false } : groups };
}

/** Removes a batch's chunks, then its `open` mark: no work is left. Idempotent. */
export async function close(db: Db, id: BatchId, state: 'split' | 'stopped'): Promise<void> {
  await removeChunks(db, id);
  await batchCollection(db).updateOne({ _id: id, state, stopGroup: { $exists: false } }, { $unset: { open: '' } });
}

export async function removeChunks(db: Db, id: BatchId): Promise<void> {
  // After the colon come only digits, and '~' sorts after them.
  await chunkCollection(db).deleteMany({ _id: { $gt: `${id}:`, $lt: `${id}:~` } });
}
