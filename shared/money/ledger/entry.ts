import type { AccountId, ScheduleId } from '../../platform/runtime/ids.ts';
import type { ChangeId, CreditNote, LedgerReason } from '../accounts/account.ts';

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
  readonly at: Date;
}

export function ledgerEntryId(account: AccountId, seq: number): string {
  return `${account}:${String(seq).padStart(12, '0')}`;
}
