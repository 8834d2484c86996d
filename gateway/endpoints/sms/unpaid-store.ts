import { BSON, type Db } from 'mongodb';
import type { BatchChunkDocument, BatchDocument } from '../../../shared/messages/batch.ts';
import { batchCollection, insertChunks, removeUnreleased } from '../../../shared/messages/batch-store.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';

/**
 * How many bytes the unpaid batches of one account may have together, over all gateways: six of the largest requests
 * (10 MB), or hundreds with 10,000 plain recipients. A batch is unpaid for some 50 ms, or for half a minute if its
 * gateway died.
 */
export const UNPAID_BYTES_MAX = 64 * 1024 * 1024;

/** A batch to be stored as unpaid. `storeUnpaid` adds `state`, `open` and `unpaid`. */
export type NewBatch = Omit<BatchDocument, 'state' | 'open' | 'unpaid'>;

/**
 * Stores a batch with its recipients. It must be paid before `payBy` (by the store's time) or it is removed.
 *
 * `too_much_unpaid`: the account would hold more than `bytesMax` of unpaid batches; nothing stays stored. The batch
 * is counted after it is stored and before its recipients are. So of several batches stored at the same time, the
 * last one counted sees all others, and the limit holds.
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
