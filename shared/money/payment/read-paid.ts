import type { Db } from 'mongodb';
import { type FindOne, findNow } from '../../platform/mongo/find-one.ts';
import type { AccountId, GroupId } from '../../platform/runtime/ids.ts';
import type { AccountDocument } from '../accounts/account.ts';
import { decodeDebits, type Paid } from './pending.ts';

/**
 * What an account has paid for and what may not be stored yet, by debit. Read this before reading what is stored, of SMS the queue
 * and then `messages`: a group that is no longer pending is stored by the time of the second read. So once nobody can pay any more, "not found" in all, by
 * `findCommitted`, is final.
 */
export async function readPaid(
  db: Db,
  account: AccountId,
  find: FindOne = findNow,
): Promise<ReadonlyMap<GroupId, Paid>> {
  const accounts = db.collection<AccountDocument>('accounts');
  const payer = await find(accounts, { _id: account }, { pending: 1 });
  return decodeDebits(payer?.pending);
}
