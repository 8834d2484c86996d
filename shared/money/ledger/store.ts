import type { Collection, Db } from 'mongodb';
import { findAllCommitted, findCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { defined } from '../../platform/runtime/defined.ts';
import type { AccountId, ScheduleId } from '../../platform/runtime/ids.ts';
import type {
  AccountDocument,
  ChangeId,
  Covers,
  CreditNote,
  LedgerReason,
  PendingChange,
} from '../accounts/account.ts';

/**
 * One link of an account's ledger chain: seq 1…n without a gap, each `balanceAfter` the one before plus `amount`. `_id`
 * is `<account>:<seq padded to 12 digits>`, so an account's statement is a range of `_id`.
 */
export interface LedgerEntryDocument extends CreditNote {
  readonly _id: string;
  readonly account: AccountId;
  readonly seq: number;
  readonly amount: number;
  readonly balanceAfter: number;
  readonly reason: LedgerReason;
  /** The group or the id of the top-up or refund: unique per account, so a change is entered once. */
  readonly change: ChangeId;
  readonly reference?: string;
  readonly schedules?: readonly ScheduleId[];
  readonly covers?: Covers;
  readonly at: Date;
}

/**
 * One entry, or several successive debits that were entered together: the fields are those of the first, `then` has the
 * others, in order. An entry may be stored twice, alone and in such a document, when two processes entered it: both say
 * the same.
 */
export interface LedgerDocument extends LedgerEntryDocument {
  readonly then?: readonly Omit<LedgerEntryDocument, '_id' | 'account' | 'seq' | 'reason'>[];
}

export function entriesIn({ then = [], ...first }: LedgerDocument): readonly LedgerEntryDocument[] {
  const { account, reason } = first;
  const others = then.map((one, i) => {
    const seq = first.seq + 1 + i;
    return { _id: ledgerEntryId(account, seq), account, seq, reason, ...one };
  });
  return [first, ...others];
}

/** Successive debits of an account become one document. */
export function together(debits: readonly LedgerEntryDocument[]): readonly LedgerDocument[] {
  const inOrder = debits.toSorted((a, b) => (a._id < b._id ? -1 : 1));
  const runs: LedgerEntryDocument[][] = [];
  for (const debit of inOrder) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (last?.account === debit.account && last.seq + 1 === debit.seq && last.reason === debit.reason) run?.push(debit);
    else runs.push([debit]);
  }
  return runs.flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const then = others.map(({ _id, account, seq, reason, ...one }) => one);
    return [then.length === 0 ? first : { ...first, then }];
  });
}

export function ledgerEntryId(account: AccountId, seq: number): string {
  return `${account}:${String(seq).padStart(12, '0')}`;
}

export function ledgerCollection(db: Db): Collection<LedgerDocument> {
  return db.collection('ledger');
}

/** Always the same for the same change. */
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

/** Existing ones stay as they are, so it may be repeated after a crash. */
export async function enterInLedger(db: Db, entries: readonly LedgerEntryDocument[]): Promise<void> {
  await insertNew(db, 'ledger', entries);
}

/** Successive debits as one document. If another process entered some, the others are entered alone. */
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

async function findEntries(
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

/** For a change that is not pending any more this says whether it happened: read the account first. */
export async function isEntered(db: Db, account: AccountId, change: ChangeId): Promise<boolean> {
  return (await findEntries(db, account, [change])).length > 0;
}

/** `isEntered` on a majority of the servers (platform/mongo/find-one.ts). */
export async function isEnteredForSure(db: Db, account: AccountId, change: ChangeId): Promise<boolean> {
  const ledger = ledgerCollection(db);
  if ((await findCommitted(ledger, { account, change }, { _id: 1 })) !== null) return true;
  return (await findAllCommitted(ledger, { account, 'then.change': change })).length > 0;
}

/**
 * Up to `limit` entries with numbers below `before`, newest first, without a gap. Reads the account first: a change
 * that is no longer pending is in the ledger, and one that is still pending counts as entered.
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
  // Leave out changes made since the account was read: they could be in the ledger before older ones, which would leave
  // gaps.
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

/** Those of these changes that happened, entered or still pending, in no order. */
export async function readEntries(
  db: Db,
  account: AccountId,
  changes: readonly ChangeId[],
): Promise<LedgerEntryDocument[]> {
  const projection = Object.fromEntries([['_id', 1], ...changes.map((change) => [`pending.${change}`, 1])]);
  const owner = await db.collection<AccountDocument>('accounts').findOne({ _id: account }, { projection });
  const entered = await findEntries(db, account, changes);
  const found = new Map(entered.map((entry) => [entry.change, entry]));
  for (const change of changes) {
    const pending = owner?.pending?.[change];
    if (pending !== undefined && !found.has(change)) found.set(change, ledgerEntryOf(account, change, pending));
  }
  return [...found.values()];
}

/** Whether a top-up or refund is in the account's balance, on a majority of the store. */
export async function isApplied(db: Db, account: AccountId, id: ChangeId): Promise<boolean> {
  return (await findChange(db, account, id)) !== undefined;
}

/**
 * A top-up or refund that is in the account's balance: read from a majority (platform/mongo/find-one.ts), because after
 * a wrong "yes" nobody would ask for it again. Looks at the account first: a change that is no longer pending is in the
 * ledger.
 */
export async function findChange(
  db: Db,
  account: AccountId,
  id: ChangeId,
): Promise<Pick<PendingChange, 'amount' | 'reason'> | undefined> {
  const shown = { [`pending.${id}.amount`]: 1, [`pending.${id}.reason`]: 1 };
  const owner = await findCommitted(db.collection<AccountDocument>('accounts'), { _id: account }, shown);
  const pending = owner?.pending?.[id];
  if (pending !== undefined) return pending;
  return (await findCommitted(ledgerCollection(db), { account, change: id }, { amount: 1, reason: 1 })) ?? undefined;
}
