import type { Collection, Db } from 'mongodb';
import { findAllCommitted, findCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { defined } from '../../platform/runtime/defined.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { ChangeId, PendingChange } from '../accounts/account.ts';
import { entriesIn, type LedgerDocument, type LedgerEntryDocument, ledgerEntryId, together } from './entry.ts';

export function ledgerCollection(db: Db): Collection<LedgerDocument> {
  return db.collection('ledger');
}

/** The ledger entry for a change of the account document; always the same for the same change. */
export function ledgerEntryOf(account: AccountId, change: ChangeId, pending: PendingChange): LedgerEntryDocument {
  const { seq, amount, balanceAfter, reason, reference, schedules, covers, note, by, at } = pending;
  return {
    _id: ledgerEntryId(account, seq),
    account,
    seq,
    amount,
    balanceAfter,
    reason,
    change,
    ...defined({ reference, schedules, covers, note, by }),
    at,
  };
}

/** Inserts entries. Existing ones stay as they are, so it may be repeated after a crash. */
export async function enterInLedger(db: Db, entries: readonly LedgerEntryDocument[]): Promise<void> {
  await insertNew(db, 'ledger', entries);
}

/**
 * The same for debits, of which those that follow each other become one document. If another process has entered some of them, the
 * others are entered alone.
 */
export async function enterTogether(db: Db, debits: readonly LedgerEntryDocument[]): Promise<void> {
  const documents = together(debits);
  if ((await insertNew(db, 'ledger', documents)) === documents.length) return;
  const stored = await ledgerCollection(db)
    .find({ _id: { $in: documents.map(({ _id }) => _id) } })
    .toArray();
  const entered = new Set(stored.flatMap(entriesIn).map(({ _id }) => _id));
  await enterInLedger(
    db,
    debits.filter(({ _id }) => !entered.has(_id)),
  );
}

/** The entries of those `changes` that are entered, in no order. */
export async function findEntries(
  db: Db,
  account: AccountId,
  changes: readonly ChangeId[],
): Promise<readonly LedgerEntryDocument[]> {
  const wanted = { $in: [...changes] };
  const filters = [
    { account, change: wanted },
    { account, 'then.change': wanted },
  ];
  const found = await Promise.all(filters.map((filter) => ledgerCollection(db).find(filter).toArray()));
  return found
    .flat()
    .flatMap(entriesIn)
    .filter(({ change }) => changes.includes(change));
}

/** Whether the change is entered. Of one that is not pending any more this says whether it happened: read the account first. */
export async function isEntered(db: Db, account: AccountId, change: ChangeId): Promise<boolean> {
  return (await findEntries(db, account, [change])).length > 0;
}

/** The same on a majority of the servers (platform/mongo/find-one.ts). */
export async function isEnteredForSure(db: Db, account: AccountId, change: ChangeId): Promise<boolean> {
  const ledger = ledgerCollection(db);
  if ((await findCommitted(ledger, { account, change }, { _id: 1 })) !== null) return true;
  return (await findAllCommitted(ledger, { account, 'then.change': change })).length > 0;
}
