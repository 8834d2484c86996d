import type { AccountId, ScheduleId } from '../../platform/runtime/ids.ts';
import type { ChangeId, Covers, CreditNote, LedgerReason } from '../accounts/account.ts';

/**
 * One link of an account's ledger chain: seq 1…n without a gap, each `balanceAfter` the one before plus `amount`.
 * `_id` is `<account>:<seq padded to 12 digits>`, so the statement of an account is a range of `_id`.
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
  /** The schedules that a debit paid for. */
  readonly schedules?: readonly ScheduleId[];
  /** As in `PendingChange`. */
  readonly covers?: Covers;
  readonly at: Date;
}

/**
 * What is stored: one entry, or several debits that follow each other and were entered together. These are one document: its fields
 * are those of the first, and `then` has the others, in the order of their numbers. An entry may be stored twice, alone and in such a
 * document, when two processes entered it: both say the same.
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

/** Debits as few documents: those of an account that follow each other are one. */
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
