import type { Db } from 'mongodb';
import { findCommitted } from '../../platform/mongo/find-one.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, ChangeId, PendingChange } from '../accounts/account.ts';
import { ledgerCollection } from './store.ts';

/** Whether a top-up or refund is in the account's balance, on a majority of the store. */
export async function isApplied(db: Db, account: AccountId, id: ChangeId): Promise<boolean> {
  return (await findChange(db, account, id)) !== undefined;
}

/**
 * What a top-up or refund did, if it is in the account's balance: read from a majority (platform/mongo/find-one.ts), because after a wrong "yes" nobody
 * would ask for it again. Looks at the account first: a change that is no longer pending is in the ledger.
 */
export async function findChange(
  db: Db,
  account: AccountId,
  id: ChangeId,
): Promise<Pick<PendingChange, 'amount' | 'reason'> | undefined> {
  const shown = { [`pending.${id}.amount`]: 1, [`pending.${id}.reason`]: 1 };
  const owner = await findCommitted(db.collection<AccountDocument>('accounts'), { _id: account }, shown);
  const pending = owner?.pending?.[id];
  if (pending !== undefined) return pending;
  return (await findCommitted(ledgerCollection(db), { account, change: id }, { amount: 1, reason: 1 })) ?? undefined;
}
