import type { Db } from 'mongodb';
import {
  type BatchChunkDocument,
  type BatchDocument,
  batchCollection,
  chunkCollection,
  countBatch,
  keepCounts,
  removeChunks,
} from '../../../shared/messages/batch.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { declareOver } from '../../../shared/money/payment/debit.ts';
import { readPaid } from '../../../shared/money/payment/pending.ts';
import { findCommitted, findEachCommitted } from '../../../shared/platform/mongo/find-one.ts';
import { SHOWN_BATCHES } from '../../../shared/platform/mongo/indexes.ts';
import { msOf, NOW_MS } from '../../../shared/platform/mongo/store-time.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import {
  type AccountId,
  type BatchId,
  batchMessageRange,
  isBatchId,
  lowestId,
} from '../../../shared/platform/runtime/ids.ts';
import { endedBefore } from './messages.ts';
import { along, type PrunePace, type PruneWalk } from './walk.ts';

type Found = Pick<BatchDocument, '_id' | 'state' | 'open' | 'counts' | 'validUntil'>;

export interface OldBatches {
  /** Messages that ended before this may be removed, once their batch has stored its counts. */
  readonly messagesBefore: Date;
  /** Batches whose validity ended before this may be removed, once all their messages are removed. */
  readonly batchesBefore: Date;
  /** Those of one account alone. */
  readonly account?: AccountId;
}

/**
 * Stores the final counts in batches whose messages have all ended. Then the messages can be removed
 * (workers/maintenance/pruning/messages.ts), and `GET /v2/batches/{id}` still shows the same. Also removes ended
 * batches; their chunks were removed when they were split. The ledger keeps their refunds.
 */
export function batchWalk(
  db: Db,
  { messagesBefore, batchesBefore, account }: OldBatches,
  pace: PrunePace,
): PruneWalk<Found> {
  const batches = batchCollection(db);
  const below = lowestId('bat', messagesBefore > batchesBefore ? messagesBefore : batchesBefore);
  const where = account === undefined ? {} : { account, ...SHOWN_BATCHES };
  return {
    // Each batch has commands and a pause of its own.
    group: { embedded: 50, mongodb: 50 },
    look: along(db, 'batches', { below, where, fields: { state: 1, open: 1, counts: 1, validUntil: 1 } }),
    remove: async (found) => {
      let removed = 0;
      for (const { _id, state, open, counts, validUntil } of found) {
        if (open || (state !== 'split' && state !== 'stopped')) continue;
        if (counts !== undefined && validUntil >= batchesBefore) continue;
        if (!pace.mayGoOn()) break;
        if (counts === undefined) await count(db, _id, messagesBefore);
        else if (!(await hasMessages(db, _id))) {
          removed += (await batches.deleteOne({ _id, state, open: { $exists: false } })).deletedCount;
        }
        await pace.pause();
      }
      return removed;
    },
  };
}

/** Idempotent. A batch that has changed since it was read is left alone (`keepCounts`). */
async function count(db: Db, id: BatchId, before: Date): Promise<void> {
  const messages = db.collection<AnyMessage>('messages');
  const alive = await messages.findOne(
    { _id: batchMessageRange(id), batch: id, $nor: [endedBefore(before)] },
    { projection: { _id: 1 } },
  );
  if (alive !== null) return;
  const batch = await batchCollection(db).findOne({ _id: id });
  if (batch === null) return;
  const counts = await countBatch(db, batch);
  // If some are still queued, an entry has no message yet, so its end is unknown.
  if (counts.queued === 0) await keepCounts(db, id, counts);
}

async function hasMessages(db: Db, id: BatchId): Promise<boolean> {
  const message = await db
    .collection<AnyMessage>('messages')
    .findOne({ _id: batchMessageRange(id), batch: id }, { projection: { _id: 1 } });
  return message !== null;
}

const BATCHES_MAX = 100;
/** Recipients without a batch that are younger than this stay. */
const FORGOTTEN_MS = 3_600_000;

/**
 * Removes batches that were never paid for and never will be, with their recipients: their gateway died before the
 * debit, or did not learn its outcome. Returns how many it looked at. The store's clock decides that the time to pay
 * is over, and the account remembers it (payment/debit.ts), so clocks of machines do not matter. A batch whose debit is still pending
 * is left to finish-pending.ts.
 */
export async function pruneUnpaid(db: Db): Promise<number> {
  const batches = batchCollection(db);
  const found = await batches
    .find(
      {
        state: 'unpaid',
        // Matches every account: without a condition on the first field of the hinted index, MongoDB logs a warning.
        account: { $gt: 'acc_' },
        unpaid: { $exists: true },
        $expr: { $lte: [msOf('$unpaid.payBy'), NOW_MS] },
      },
      { projection: { account: 1, unpaid: 1 }, hint: 'unpaid' },
    )
    .limit(BATCHES_MAX)
    .toArray();
  for (const { _id, account, unpaid: order } of found) {
    // From here on a debit that was held up is refused, even by a server whose clock is behind.
    if (order !== undefined && !(await declareOver(db, account, order.payBy))) continue;
    const pending = [...(await readPaid(db, account, findCommitted)).values()];
    if (pending.some(({ batch, schedules }) => batch === _id || schedules.some((one) => one.batch === _id))) continue;
    // The batch may have been marked as paid since it was read, and its pending change cleared. Then it stays.
    const unpaid = await findCommitted(batches, { _id, state: 'unpaid' }, { _id: 1 });
    if (unpaid === null) continue;
    await removeChunks(db, _id);
    await batches.deleteOne({ _id, state: 'unpaid' });
  }
  return found.length;
}

type FoundChunk = Pick<BatchChunkDocument, '_id'>;

/**
 * Removes recipients without a batch. They remain when a gateway freezes while it stores them, wakes up after the
 * batch was removed, writes the rest and dies. A batch is stored before its recipients and removed after them, so
 * recipients without a batch never get one. Recipients of the last hour are left alone, and a batch that a read does not show is
 * asked for once more: the read may come from a primary that was replaced.
 */
export function forgottenChunkWalk(db: Db, clock: Clock): PruneWalk<FoundChunk> {
  const chunks = chunkCollection(db);
  const below = `${lowestId('bat', new Date(clock.now().getTime() - FORGOTTEN_MS))}:`;
  return {
    // A chunk has up to 0.5 MB.
    group: { embedded: 20, mongodb: 20 },
    look: along(db, 'batch_chunks', { below }),
    remove: async (found) => {
      const ids = [...new Set(found.map(({ _id }) => batchOf(_id)))];
      const there = await batchCollection(db)
        .find({ _id: { $in: ids } }, { projection: { _id: 1 } })
        .toArray();
      const seen = new Set(there.map(({ _id }) => _id));
      const unseen = ids.filter((id) => !seen.has(id)).map((_id) => ({ _id }));
      const known = new Set([...seen, ...(await findEachCommitted(batchCollection(db), unseen)).map(({ _id }) => _id)]);
      const forgotten = found.map(({ _id }) => _id).filter((id) => !known.has(batchOf(id)));
      if (forgotten.length === 0) return 0;
      return (await chunks.deleteMany({ _id: { $in: forgotten } })).deletedCount;
    },
  };
}

function batchOf(chunk: BatchChunkDocument['_id']): BatchId {
  const [id = ''] = chunk.split(':');
  if (!isBatchId(id)) throw new Error('a chunk is named after its batch');
  return id;
}
