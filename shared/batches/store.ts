import type { Collection, Db, Filter } from 'mongodb';
import type { AccountId, BatchId, GroupId } from '../runtime/ids.ts';
import {
  type BatchChunkDocument,
  type BatchCounts,
  type BatchDocument,
  type BatchState,
  chunkId,
  type StopGroup,
} from './batch.ts';

export function batchCollection(db: Db): Collection<BatchDocument> {
  return db.collection('batches');
}

export function chunkCollection(db: Db): Collection<BatchChunkDocument> {
  return db.collection('batch_chunks');
}

/** Stores the recipients of a batch that is there already: chunks without one are found only by the hourly walk (prune.ts). */
export async function insertChunks(db: Db, chunks: readonly BatchChunkDocument[]): Promise<void> {
  // The driver writes a command as BSON in one go: a chunk with params takes milliseconds, plain ones do not.
  const groups = chunks.some(({ params }) => params !== undefined) ? chunks.map((chunk) => [chunk]) : [chunks];
  for (const group of groups) await chunkCollection(db).insertMany(group);
}

/** What follows from the debit `group`. Doing it twice, also long afterwards, changes nothing. */
export async function markPaid(db: Db, id: BatchId, group: GroupId): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: 'unpaid' },
    { $set: { state: 'paid', group }, $unset: { unpaid: '' } },
  );
}

/** What follows from booking: it waits for its time and is not pruned. Doing it twice, also long afterwards, changes nothing. */
export async function markBooked(db: Db, ids: readonly BatchId[]): Promise<void> {
  if (ids.length === 0) return;
  await batchCollection(db).updateMany(
    { _id: { $in: ids }, state: 'unpaid' },
    { $set: { state: 'booked' }, $unset: { open: '', unpaid: '' } },
  );
}

/** Its time has come: as if it was paid now. Doing it twice, also long afterwards, changes nothing. */
export async function releaseBooked(db: Db, id: BatchId, group: GroupId, validUntil: Date): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['unpaid', 'booked'] } },
    { $set: { state: 'paid', group, validUntil, open: true }, $unset: { unpaid: '' } },
  );
}

/** Removes a batch that was never released, with its recipients. Idempotent; the caller knows that nobody releases it. */
export async function removeUnreleased(db: Db, id: BatchId): Promise<void> {
  await removeChunks(db, id);
  await batchCollection(db).deleteOne({ _id: id, state: { $in: ['unpaid', 'booked'] } });
}

/** A batch of the account in any state. */
export async function readBatch(db: Db, account: AccountId, id: BatchId): Promise<BatchDocument | undefined> {
  return (await batchCollection(db).findOne({ _id: id, account })) ?? undefined;
}

/** The states in which a worker has something to do, while `open`. */
const WORK_STATES = ['paid', 'split', 'stopping', 'stopped'] as const satisfies readonly BatchState[];

/** Up to `limit` batches that wait for a worker, the oldest first. */
export function findOpen(db: Db, limit: number): Promise<BatchDocument[]> {
  return batchCollection(db)
    .find({ open: true, state: { $in: [...WORK_STATES] } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/** The chunk that has the entry `index`; undefined when the batch's chunks are removed. */
export async function readChunk(db: Db, batch: BatchDocument, index: number): Promise<BatchChunkDocument | undefined> {
  const id = chunkId(batch._id, Math.floor(index / batch.perChunk));
  return (await chunkCollection(db).findOne({ _id: id })) ?? undefined;
}

/**
 * Says that all reserved entries are messages, and reserves those of the next chunk; or that the batch is split. A
 * compare-and-set: false when another worker was faster, or the batch was stopped.
 */
export async function advance(db: Db, batch: BatchDocument): Promise<boolean> {
  const { _id, reserved, total, perChunk } = batch;
  const next =
    reserved === total
      ? { done: total, state: 'split' as const }
      : { done: reserved, reserved: Math.min(reserved + perChunk, total) };
  const { matchedCount } = await batchCollection(db).updateOne({ _id, state: 'paid', reserved }, { $set: next });
  return matchedCount === 1;
}

/** Those of `ids` of which nothing more shall leave. */
export async function findStopped(db: Db, ids: readonly BatchId[]): Promise<ReadonlySet<BatchId>> {
  const stopped = await batchCollection(db)
    .find({ _id: { $in: [...ids] }, state: { $in: ['stopping', 'stopped'] } }, { projection: { _id: 1 } })
    .toArray();
  return new Set(stopped.map(({ _id }) => _id));
}

/** Decides that nothing more of a paid batch shall leave. Idempotent. */
export async function beginStop(db: Db, id: BatchId): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['paid', 'split'] } },
    { $set: { state: 'stopping', open: true } },
  );
}

/** Those of `ids` that do not have the counts of their messages (yet). */
export async function findUncounted(db: Db, ids: readonly BatchId[]): Promise<readonly BatchId[]> {
  if (ids.length === 0) return [];
  const uncounted = await batchCollection(db)
    .find({ _id: { $in: [...ids] }, counts: { $exists: false } }, { projection: { _id: 1 } })
    .toArray();
  return uncounted.map(({ _id }) => _id);
}

/** Keeps the counts of a batch whose messages ended, with which nobody has anything to do. Idempotent. */
export async function keepCounts(db: Db, id: BatchId, counts: BatchCounts): Promise<void> {
  await batchCollection(db).updateOne(
    { _id: id, state: { $in: ['split', 'stopped'] }, open: { $exists: false }, counts: { $exists: false } },
    { $set: { counts } },
  );
}

/**
 * Decides the next group of messages to be cancelled and refunded together, when all that follows from the `groups` before it
 * is done. A compare-and-set: false when somebody else decided one since.
 */
export async function decideStopGroup(db: Db, id: BatchId, groups: number, group: StopGroup): Promise<boolean> {
  const { matchedCount } = await batchCollection(db).updateOne(
    { _id: id, ...decided(groups) },
    { $set: { stopGroups: groups + 1, stopGroup: group } },
  );
  return matchedCount === 1;
}

/**
 * All that had not left is cancelled and refunded, in `groups` groups. Idempotent. False when somebody else decided a further
 * group since.
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

/** Removes a batch's chunks, then its mark: nobody has anything to do with it any more. Idempotent. */
export async function close(db: Db, id: BatchId, state: 'split' | 'stopped'): Promise<void> {
  await removeChunks(db, id);
  await batchCollection(db).updateOne({ _id: id, state, stopGroup: { $exists: false } }, { $unset: { open: '' } });
}

export async function removeChunks(db: Db, id: BatchId): Promise<void> {
  // Behind the colon are only digits, and '~' comes after them.
  await chunkCollection(db).deleteMany({ _id: { $gt: `${id}:`, $lt: `${id}:~` } });
}
