import type { Db } from 'mongodb';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { AccountDocument, PendingChange } from '../accounts/account.ts';
import { entriesIn, ledgerCollection, ledgerEntryId } from './store.ts';

export interface LedgerVerdict {
  readonly account: AccountId;
  /** Those still pending included. */
  readonly entries: number;
  readonly balance: number;
  /** Empty when the chain is complete and ends in the balance. */
  readonly problems: readonly string[];
}

type Link = Pick<PendingChange, 'seq' | 'amount' | 'balanceAfter'>;

/** Entries read at once. A process that serves requests too must not be busy with more. */
const SLICE = 1_000;
/** A broken chain is usually broken everywhere after the first gap. */
const PROBLEMS_MAX = 20;

/**
 * Walks the account's ledger: seq 1…n without a gap, each balance equal to the one before plus the amount, the last one
 * equal to the account's balance. Changes without a ledger entry yet are the chain's tail. Correct at any moment: the
 * account is read first, and only its `seq` entries are checked.
 */
export async function verifyLedger(db: Db, account: AccountId): Promise<LedgerVerdict> {
  const document = await db.collection<AccountDocument>('accounts').findOne({ _id: account });
  if (document === null) return { account, entries: 0, balance: 0, problems: ['there is no such account'] };

  const pending = new Map<number, PendingChange>();
  for (const change of Object.values(document.pending ?? {})) pending.set(change.seq, change);
  const problems: string[] = [];
  let seq = 0;
  let balance = 0;
  const take = (link: Link): void => {
    if (balance + link.amount !== link.balanceAfter) {
      problems.push(`seq ${link.seq}: ${balance} ${signed(link.amount)} is not ${link.balanceAfter}`);
    }
    seq = link.seq;
    balance = link.balanceAfter;
  };
  const takePendingUpTo = (end: number): void => {
    while (seq < end) {
      const first = seq + 1;
      const change = pending.get(first);
      if (change !== undefined) {
        take(change);
        continue;
      }
      // A gap is one problem: it may have millions of entries.
      seq = Math.min(end, ...[...pending.keys()].filter((known) => known > first).map((known) => known - 1));
      problems.push(seq === first ? `seq ${first} is missing` : `seq ${first} to ${seq} are missing`);
    }
  };

  /** The entries of the newest document that has several. */
  let together = new Map<number, Link>();
  const range = { $gt: ledgerEntryId(account, 0), $lte: ledgerEntryId(account, document.seq) };
  for await (const stored of ledgerCollection(db).find({ _id: range }, { batchSize: SLICE }).sort({ _id: 1 })) {
    const entries = entriesIn(stored);
    if (entries.length > 1) together = new Map(entries.map((entry) => [entry.seq, entry]));
    for (const entry of entries) {
      // Made since the account was read, or stored twice.
      if (entry.seq > document.seq || (entry.seq <= seq && isSame(entry, together.get(entry.seq)))) continue;
      takePendingUpTo(entry.seq - 1);
      take(entry);
    }
    if (problems.length >= PROBLEMS_MAX) break;
  }
  if (problems.length < PROBLEMS_MAX) {
    takePendingUpTo(document.seq);
    if (balance !== document.balance) problems.push(`the chain ends in ${balance}, the balance is ${document.balance}`);
  }
  return { account, entries: document.seq, balance: document.balance, problems };
}

function isSame(link: Link, other: Link | undefined): boolean {
  return link.amount === other?.amount && link.balanceAfter === other.balanceAfter;
}

function signed(amount: number): string {
  return amount < 0 ? `− ${-amount}` : `+ ${amount}`;
}
