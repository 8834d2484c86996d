import type { Db, FindCursor } from 'mongodb';
import type { BatchDocument, BatchState } from '../../shared/messages/batch.ts';
import { batchCollection } from '../../shared/messages/batch-store.ts';
import type { AccountId, BatchId } from '../../shared/platform/runtime/ids.ts';

/** Where to read on: behind all batches of the account, or, if `batch` is given, behind that one. */
export interface Place {
  readonly account: AccountId | '';
  readonly batch?: BatchId;
}

/** The states in which a worker has something to do, while `open`. */
const WORK_STATES = ['paid', 'split', 'stopping', 'stopped'] as const satisfies readonly BatchState[];

/** The batches behind `place` that need a worker: account by account, the oldest of each first. */
export function openBatches(db: Db, place: Place): FindCursor<BatchDocument> {
  return batchCollection(db)
    .find({ open: true, state: { $in: [...WORK_STATES] }, ...behind(place) })
    .sort({ open: 1, account: 1, _id: 1 }); // names the whole index, so no other one serves it
}

/** The batches behind `place` that are to be stopped, in the same order. */
export function stoppingBatches(db: Db, place: Place): FindCursor<BatchDocument> {
  return batchCollection(db)
    .find({ state: 'stopping', ...behind(place) })
    .sort({ state: 1, account: 1, _id: 1 });
}

function behind({ account, batch }: Place) {
  const after = account as AccountId; // '' sorts before every id
  return batch === undefined ? { account: { $gt: after } } : { account: after, _id: { $gt: batch } };
}
