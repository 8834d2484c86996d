import type { Db } from 'mongodb';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';

export async function balanceOf(db: Db, account: AccountId): Promise<number | undefined> {
  return (await db.collection<AccountDocument>('accounts').findOne({ _id: account }))?.balance;
}

/** The balance that the ledger adds up to. Fails if the ledger is not whole. */
export async function ledgerBalanceOf(db: Db, account: AccountId): Promise<number> {
  const { balance, problems } = await verifyLedger(db, account);
  expect(problems).to.deep.equal([]);
  return balance;
}
