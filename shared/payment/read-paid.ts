import type { Db } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import type { AccountId, GroupId } from '../runtime/ids.ts';
import { decodeDebits, type Paid } from './pending.ts';

/**
 * What an account has paid for and what is perhaps not stored yet, by the debit. To be read before what is stored: what is
 * not pending any more then is stored by the time that is looked at. So, when nobody can pay any more, "not found" in both
 * is final.
 */
export async function readPaid(db: Db, account: AccountId): Promise<ReadonlyMap<GroupId, Paid>> {
  const payer = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { pending: 1 } });
  return decodeDebits(payer?.pending);
}
