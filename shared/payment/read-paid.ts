import type { Db } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import type { AccountId, GroupId } from '../runtime/ids.ts';
import { decodeDebits, type Paid } from './pending.ts';

/**
 * What an account has paid for and what may not be stored yet, by debit. Read this before reading what is stored: a group that is
 * no longer pending is stored by the time of the second read. So once nobody can pay any more, "not found" in both is final.
 */
export async function readPaid(db: Db, account: AccountId): Promise<ReadonlyMap<GroupId, Paid>> {
  const payer = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { pending: 1 } });
  return decodeDebits(payer?.pending);
}
