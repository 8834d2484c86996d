import type { Db } from 'mongodb';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, ChangeId, PendingChange } from '../accounts/account.ts';
import { entriesIn, type LedgerEntryDocument, ledgerEntryId } from './entry.ts';
import { findEntries, ledgerCollection, ledgerEntryOf } from './store.ts';

/**
 * Up to `limit` entries of an account's ledger with numbers below `before`, newest first, without a gap. Reads the account first:
 * a change that is no longer pending is in the ledger by now, and one that is still pending counts as entered.
 */
export async function readStatement(
  db: Db,
  account: AccountId,
  before: number,
  limit: number,
): Promise<LedgerEntryDocument[]> {
  const owner = await db
    .collection<AccountDocument>('accounts')
    .findOne({ _id: account }, { projection: { pending: 1, seq: 1 } });
  // Leave out changes made since the account was read: they could be in the ledger before older ones, which would leave gaps.
  const end = Math.min(before, (owner?.seq ?? 0) + 1);
  const entered = await ledgerCollection(db)
    .find({ _id: { $gte: ledgerEntryId(account, 1), $lt: ledgerEntryId(account, end) } })
    .sort({ _id: -1 })
    .limit(limit)
    .batchSize(limit + 1) // all in one answer: the server's own first batch holds 101
    .toArray();
  const below = entered.flatMap(entriesIn).filter(({ seq }) => seq < end);
  const bySeq = new Map(below.map((entry) => [entry.seq, entry]));
  for (const [change, pending] of Object.entries(owner?.pending ?? {})) {
    if (pending.seq >= end || bySeq.has(pending.seq)) continue;
    bySeq.set(pending.seq, ledgerEntryOf(account, change as ChangeId, pending)); // its keys are change ids (account.ts)
  }
  return [...bySeq.values()].sort((a, b) => b.seq - a.seq).slice(0, limit);
}

/** The fields of a pending change that an entry needs; a pending change may also carry many messages. */
const ENTRY_FIELDS = [
  'seq',
  'amount',
  'balanceAfter',
  'reason',
  'reference',
  'schedules',
  'covers',
  'note',
  'by',
  'at',
] as const satisfies (keyof PendingChange)[];

/** The entries of those `changes` that happened, whether entered or still pending, in no order. */
export async function readEntries(
  db: Db,
  account: AccountId,
  changes: readonly ChangeId[],
): Promise<LedgerEntryDocument[]> {
  const projection: Record<string, 1> = { _id: 1 };
  for (const change of changes) for (const field of ENTRY_FIELDS) projection[`pending.${change}.${field}`] = 1;
  const owner = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection });
  const entered = await findEntries(db, account, changes);
  const found = new Map(entered.map((entry) => [entry.change, entry]));
  for (const change of changes) {
    const pending = owner?.pending?.[change];
    if (pending !== undefined && !found.has(change)) found.set(change, ledgerEntryOf(account, change, pending));
  }
  return [...found.values()];
}
