import type { Db } from 'mongodb';
import type { BatchDocument } from '../../../shared/messages/batch.ts';
import { countBatch } from '../../../shared/messages/batch-progress.ts';
import { batchCollection, keepCounts } from '../../../shared/messages/batch-store.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { SHOWN_BATCHES } from '../../../shared/platform/mongo/batch-indexes.ts';
import { type AccountId, type BatchId, batchMessageRange, lowestId } from '../../../shared/platform/runtime/ids.ts';
import { endedBefore } from './messages.ts';
import type { PrunePace, PruneWalk } from './walk.ts';

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
  return {
    // Each batch has commands and a pause of its own.
    group: { embedded: 50, mongodb: 50 },
    look: (after, limit) =>
      batches
        .find<Found>(
          {
            ...(account === undefined ? {} : { account, ...SHOWN_BATCHES }),
            _id: { ...(after === undefined ? {} : { $gt: after }), $lt: below },
          },
          { projection: { state: 1, open: 1, counts: 1, validUntil: 1 } },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
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
