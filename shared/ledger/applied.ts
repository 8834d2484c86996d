import type { Db } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import { findForSure } from '../mongo/find-one.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { Credit } from './change.ts';
import { ledgerCollection } from './store.ts';

/**
 * Whether a top-up or refund is in the account's balance, for sure (mongo/find-one.ts): after a wrong "yes" nobody would ask for it
 * again. Looks at the account first: a change that is no longer pending is in the ledger.
 */
export async function isApplied(db: Db, account: AccountId, id: Credit['id']): Promise<boolean> {
  const accounts = db.collection<AccountDocument>('accounts');
  const owner = await findForSure(accounts, { _id: account }, { [`pending.${id}.seq`]: 1 });
  if (owner?.pending?.[id] !== undefined) return true;
  return (await findForSure(ledgerCollection(db), { account, change: id }, { _id: 1 })) !== null;
}
