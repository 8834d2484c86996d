import type { LedgerVerdict } from '../../../shared/money/ledger/verify.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId, LedgerCheckId } from '../../../shared/platform/runtime/ids.ts';

/** A walk through the ledgers of one account or all, begun by an operator. It is stored, so every gateway can tell of it. */
export interface LedgerCheckDocument {
  readonly _id: LedgerCheckId;
  /** Absent: all accounts. */
  readonly account?: AccountId;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedAt: Date;
  /** When it last got on. A check whose process died gets on no more. */
  readonly at: Date;
  /** Accounts. */
  readonly done: number;
  readonly total: number;
  readonly entries: number;
  readonly broken: readonly LedgerVerdict[];
  readonly expiresAt: Date;
}

/** Most broken ledgers that are kept. Many broken ones have one cause. */
export const BROKEN_MAX = 100;
const DAY_MS = 86_400_000;
export const KEPT_MS = 30 * DAY_MS;
/** Far longer than one account takes. */
const STALLED_MS = 5 * 60_000;

export function ledgerCheckRecord(check: LedgerCheckDocument, now: Date) {
  const { _id, account, state, startedAt, at, done, total, entries, broken } = check;
  const stalled = state === 'running' && now.getTime() - at.getTime() > STALLED_MS;
  return {
    ledger_check_id: _id,
    account_id: account ?? null,
    /** `interrupted`: its process ended. Begin another one. */
    state: stalled ? 'interrupted' : state,
    started_at: isoTimestamp(startedAt),
    ended_at: state === 'running' ? null : isoTimestamp(at),
    done,
    total,
    entries,
    broken: broken.map((one) => ({ account_id: one.account, balance: one.balance, problems: one.problems })),
  };
}
