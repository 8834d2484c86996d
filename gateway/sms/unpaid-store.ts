import { BSON, type Db } from 'mongodb';
import type { BatchChunkDocument, BatchDocument } from '../../shared/batches/batch.ts';
import { batchCollection, insertChunks, removeUnreleased } from '../../shared/batches/store.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';

/**
 * What the batches of one account may take together while they are not paid, over all gateways: six of the largest requests
 * (10 MB), hundreds with 10,000 plain recipients. Each is unpaid for some 50 ms; one whose gateway died, for half a minute.
 */
export const UNPAID_BYTES_MAX = 64 * 1024 * 1024;

/** Of a batch that is to be stored unpaid: `state`, `open` and `unpaid` are added. */
export type NewBatch = Omit<BatchDocument, 'state' | 'open' | 'unpaid'>;

/**
 * Stores a batch with its recipients, to be paid before `payBy` of the store's time or removed. `too_much_unpaid`: the account
 * would hold more than `bytesMax` unpaid, and nothing stays. The batch is stored before it is counted, and its recipients behind
 * that: of several at the same moment the last to count sees all others, so never more than the limit is stored. Rejects with the
 * store's error; what is stored by then goes at `payBy`.
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
