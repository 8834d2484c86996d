import type { Request } from 'express';
import type { Db } from 'mongodb';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { isAccountId } from '../../../shared/platform/runtime/ids.ts';

/** The account that the path names, without `pending`. */
export async function accountInPath(db: Db, { params }: Request): Promise<AccountDocument | undefined> {
  const { account_id: id } = params;
  return typeof id === 'string' && isAccountId(id) ? findAccount(db, id) : undefined;
}
