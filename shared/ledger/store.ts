import type { Collection, Db } from 'mongodb';
import { defined } from '../../shared/runtime/defined.ts';
import type { ChangeId, PendingChange } from '../accounts/account.ts';
import { insertNew } from '../mongo/insert-new.ts';
import type { AccountId } from '../runtime/ids.ts';
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
