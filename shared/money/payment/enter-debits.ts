import type { Db } from 'mongodb';
import { findAtOnce } from '../../platform/mongo/find-at-once.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { enterInLedger, ledgerEntryOf } from '../ledger/store.ts';
import type { DebitRequest } from './debit.ts';
import { DECIDED, purchaseEntry } from './pending.ts';

/**
 * Enters paid debits in the ledger, with the number and the balance that the store gave each of them. False for a debit that is
 * not pending: the maintenance has entered it, or the account was read from an old view. Either way the maintenance clears what is left.
 * Repeating it writes the same.
 */
export async function enterDebits(db: Db, debits: readonly DebitRequest[]): Promise<readonly boolean[]> {
  const accounts = await readPending(db, debits);
  const entries = debits.map((debit) => {
    const pending = accounts.get(debit.account)?.pending?.[debit.group];
    return pending && ledgerEntryOf(debit.account, debit.group, { ...pending, ...purchaseEntry(debit) });
  });
  await enterInLedger(
    db,
    entries.filter((entry) => entry !== undefined),
  );
  return entries.map((entry) => entry !== undefined);
}

/** Of `pending` only what the store decided (`DECIDED`). */
type WithPending = Pick<AccountDocument, '_id' | 'pending'>;

async function readPending(
  db: Db,
  debits: readonly DebitRequest[],
): Promise<ReadonlyMap<AccountDocument['_id'], WithPending>> {
  const projection: Record<string, 1> = {};
  for (const { group } of debits) for (const name of DECIDED) projection[`pending.${group}.${name}`] = 1;
  const accounts = [...new Set(debits.map(({ account }) => account))];
  const found = await findAtOnce<AccountDocument>(db, 'accounts', {
    filter: { _id: { $in: accounts } },
    projection,
    sort: { _id: 1 },
    limit: accounts.length,
  });
  return new Map(found.map((account) => [account._id, account]));
}
