import type { Db } from 'mongodb';
import type { BatchDocument } from '../../shared/batches/batch.ts';
import { markPaid, readBatch } from '../../shared/batches/store.ts';
import { type FindOne, findForSure, findNow } from '../../shared/mongo/find-one.ts';
import { readPaid } from '../../shared/payment/read-paid.ts';
import type { AccountId, BatchId } from '../../shared/runtime/ids.ts';

/**
 * A batch that the account has paid for; undefined when there is none. The account is read before the batch: a
 * payment that is no longer pending then has already marked its batch as paid. Writes nothing: what is shown may be
 * rolled back, and the store may be read-only.
 */
export async function showPaidBatch(
  db: Db,
  account: AccountId,
  id: BatchId,
  find: FindOne = findNow,
): Promise<BatchDocument | undefined> {
  const paid = await readPaid(db, account, find);
  const batch = await readBatch(db, account, id, find);
  // The batch of a schedule is not shown before it is released.
  if (batch?.state === 'booked') return undefined;
  if (batch === undefined || batch.state !== 'unpaid') return batch;
  const group = [...paid.keys()].find((debit) => paid.get(debit)?.batch === id);
  return group === undefined ? undefined : { ...batch, state: 'paid', group };
}

/**
 * The same for whoever acts on it: after the time to pay is over, undefined is final. If the gateway died right after the
 * debit, the batch is marked as paid here.
 */
export async function findPaidBatch(db: Db, account: AccountId, id: BatchId): Promise<BatchDocument | undefined> {
  const batch = await showPaidBatch(db, account, id, findForSure);
  if (batch?.state === 'paid' && batch.group !== undefined) await markPaid(db, id, batch.group);
  return batch;
}
