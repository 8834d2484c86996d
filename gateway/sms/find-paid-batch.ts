import type { Db } from 'mongodb';
import type { BatchDocument } from '../../shared/batches/batch.ts';
import { markPaid, readBatch } from '../../shared/batches/store.ts';
import { readPaid } from '../../shared/payment/read-paid.ts';
import type { AccountId, BatchId } from '../../shared/runtime/ids.ts';

/**
 * A batch of the account that it has paid for; undefined when there is none. The account is read first: what is not pending
 * any more then is marked as paid by now. So, when nobody can pay any more, undefined is final. A batch whose gateway died
 * right after the debit is marked here: that is what follows from it anyway.
 */
export async function findPaidBatch(db: Db, account: AccountId, id: BatchId): Promise<BatchDocument | undefined> {
  const paid = await readPaid(db, account);
  const batch = await readBatch(db, account, id);
  // The batch of a schedule is nobody's business before its time.
  if (batch?.state === 'booked') return undefined;
  if (batch === undefined || batch.state !== 'unpaid') return batch;
  const group = [...paid.keys()].find((debit) => paid.get(debit)?.batch === id);
  if (group === undefined) return undefined;
  await markPaid(db, id, group);
  return { ...batch, state: 'paid', group };
}
