import type { Db } from 'mongodb';
import type { LedgerReason } from '../../../shared/money/accounts/account.ts';
import { type LedgerEntryDocument, ledgerEntryId } from '../../../shared/money/ledger/entry.ts';
import { readStatement } from '../../../shared/money/ledger/statement.ts';
import { ledgerCollection } from '../../../shared/money/ledger/store.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { parseQueryChoice, parseQueryTime } from '../../http/query.ts';

export const FILTERS = ['reason', 'since', 'until'] as const;

const REASONS = ['send', 'conversation', 'top_up', 'refund', 'correction'] as const satisfies readonly LedgerReason[];

/** Entries that one page looks at when it filters by reason, which no index has. It may then have fewer entries than asked for. */
const WALK_MAX = 1_000;

/** A number above that of every entry. Ids of entries have room for twelve digits. */
const BEHIND_ALL = 999_999_999_999;

export interface LedgerFilter {
  readonly reason?: LedgerReason | undefined;
  /** Inclusive. */
  readonly since?: Date | undefined;
  /** Exclusive. */
  readonly until?: Date | undefined;
}

export interface LedgerPage {
  readonly entries: readonly LedgerEntryDocument[];
  /** The next page has entries below this number. Undefined at the end. */
  readonly next: number | undefined;
}

export function parseLedgerFilter(
  query: Readonly<Partial<Record<(typeof FILTERS)[number], string>>>,
  problems: FieldProblems,
): LedgerFilter {
  return {
    reason: parseQueryChoice('reason', query.reason, REASONS, problems),
    since: parseQueryTime('since', query.since, problems),
    until: parseQueryTime('until', query.until, problems),
  };
}

/** Up to `limit` entries that fit, newest first, with numbers below `before`. */
export async function listLedger(
  db: Db,
  account: AccountId,
  { reason, since, until }: LedgerFilter,
  before: number | undefined,
  limit: number,
): Promise<LedgerPage> {
  const end = before ?? (until === undefined ? BEHIND_ALL : await firstSince(db, account, until));
  const most = reason === undefined ? limit : WALK_MAX;
  const walked = await readStatement(db, account, end, most);
  const young = since === undefined ? walked : walked.filter(({ at }) => at >= since);
  const entries = young
    .filter((entry) => (reason === undefined || entry.reason === reason) && (until === undefined || entry.at < until))
    .slice(0, limit);
  const isAll = walked.length < most || young.length < walked.length;
  const last = entries.length === limit ? entries.at(-1)?.seq : isAll ? undefined : walked.at(-1)?.seq;
  // The first entry of an account has the number 1.
  return { entries, next: last === 1 ? undefined : last };
}

/**
 * The lowest number of an entry at or after `at`. Numbers and times rise together, so a binary search finds it without an index on
 * the time. Changes are entered in any order: if a number has no entry yet, the next entry tells the time. Changes below the result
 * that are not entered yet may be of any time.
 */
async function firstSince(db: Db, account: AccountId, at: Date): Promise<number> {
  const entered = (from: number, order: 1 | -1) =>
    ledgerCollection(db)
      .find({ _id: { $gte: ledgerEntryId(account, from), $lte: ledgerEntryId(account, BEHIND_ALL) } })
      .sort({ _id: order })
      .limit(1)
      .project<Pick<LedgerEntryDocument, 'seq' | 'at'>>({ seq: 1, at: 1 })
      .next();
  const newest = await entered(1, -1);
  if (newest === null || newest.at < at) return BEHIND_ALL;
  let [low, high, first] = [1, newest.seq, newest.seq];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { seq, at: then } = (await entered(middle, 1)) ?? newest;
    if (then < at) {
      low = seq + 1;
    } else {
      high = middle;
      first = seq;
    }
  }
  return first;
}
