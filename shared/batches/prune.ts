import type { Db } from 'mongodb';
import type { AccountDocument, PendingChange } from '../accounts/account.ts';
import { paidSchedules } from '../messages/debit.ts';
import type { Clock } from '../runtime/clock.ts';
import { lowestId } from '../runtime/ids.ts';
import { paidBatch } from './paid-batch.ts';
import { batchCollection, removeChunks } from './store.ts';

/**
 * A batch is paid within seconds of its id or never (`PAY_WITHIN_MS`, by the store's time). Far longer, so that clocks of
 * machines may disagree.
 */
const UNPAID_MS = 3_600_000;
const BATCHES_MAX = 100;

/**
 * Removes batches that were never paid (no credits, a gateway that died before the debit) with their recipients, and returns
 * how many it looked at. One whose debit is still pending is left to the sweep that finishes it (messages/finish-pending.ts).
 */
export async function pruneUnpaid(db: Db, clock: Clock): Promise<number> {
  const batches = batchCollection(db);
  const before = lowestId('bat', new Date(clock.now().getTime() - UNPAID_MS));
  const found = await batches
    .find({ open: true, state: 'unpaid', _id: { $lt: before } }, { projection: { account: 1 } })
    .sort({ _id: 1 })
    .limit(BATCHES_MAX)
    .toArray();
  for (const { _id, account } of found) {
    const payer = await db
      .collection<AccountDocument>('accounts')
      .findOne({ _id: account }, { projection: { pending: 1 } });
    const pays = (pending: PendingChange) =>
      paidBatch(pending) === _id || paidSchedules(pending).some(({ batch }) => batch === _id);
    if (Object.values(payer?.pending ?? {}).some(pays)) continue;
    // Marked as paid since it was found, its pending change cleared: then it stays.
    const unpaid = await batches.findOne({ _id, state: 'unpaid' }, { projection: { _id: 1 } });
    if (unpaid === null) continue;
    await removeChunks(db, _id);
    await batches.deleteOne({ _id, state: 'unpaid' });
  }
  return found.length;
}
