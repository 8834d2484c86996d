import type { Db } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { Credit } from './change.ts';
import { ledgerCollection } from './store.ts';

/**
 * Whether a top-up or refund is in the account's balance. Reads the account first: a change that is no longer pending is in the
 * ledger.
 */
export async function isApplied(db: Db, account: AccountId, id: Credit['id']): Promise<boolean> {
  const owner = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { [`pending.${id}.seq`]: 1 } });
  if (owner?.pending?.[id] !== undefined) return true;
  return (await ledgerCollection(db).findOne({ account, change: id }, { projection: { _id: 1 } })) !== null;
}
