import type { Collection, Db } from 'mongodb';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { defined } from '../../platform/runtime/defined.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { ChangeId, PendingChange } from '../accounts/account.ts';
import { type LedgerEntryDocument, ledgerEntryId } from './entry.ts';

export function ledgerCollection(db: Db): Collection<LedgerEntryDocument> {
  return db.collection('ledger');
}

/** The ledger entry for a change of the account document; always the same for the same change. */
export function ledgerEntryOf(account: AccountId, change: ChangeId, pending: PendingChange): LedgerEntryDocument {
  const { seq, amount, balanceAfter, reason, reference, schedules, note, by, at } = pending;
  return {
    _id: ledgerEntryId(account, seq),
    account,
    seq,
    amount,
    balanceAfter,
    reason,
    change,
    ...defined({ reference, schedules, note, by }),
    at,
  };
}

/** Inserts entries. Existing ones stay as they are, so it may be repeated after a crash. */
export async function enterInLedger(db: Db, entries: readonly LedgerEntryDocument[]): Promise<void> {
  await insertNew(db, 'ledger', entries);
}
