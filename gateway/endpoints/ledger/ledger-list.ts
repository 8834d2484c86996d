import type { Db } from 'mongodb';
import type { LedgerReason } from '../../../shared/money/accounts/account.ts';
import { entriesIn, type LedgerEntryDocument, ledgerEntryId } from '../../../shared/money/ledger/entry.ts';
import { ledgerCollection, readStatement } from '../../../shared/money/ledger/store.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { choice, optional, type Values } from '../../http/fields/field.ts';
import { queryTime } from '../../http/fields/query.ts';

export const REASONS = [
  'send',
  'conversation',
  'top_up',
  'refund',
  'correction',
] as const satisfies readonly LedgerReason[];

/** `since` is inclusive, `until` exclusive. */
export const LEDGER_FILTER = {
  reason: optional(
    choice(
      REASONS,
      'Only changes of this kind. A page then looks at 1,000 changes at most and may have fewer entries, even none, while `has_more` is true.',
    ),
  ),
  since: optional(queryTime('Only changes at or after this time: ISO 8601 with an offset.')),
  until: optional(queryTime('Only changes before this time.')),
};

export type LedgerFilter = Values<typeof LEDGER_FILTER>;

/** Entries that one page looks at when it filters by reason, which no index has. It may then have fewer entries than asked for. */
const WALK_MAX = 1_000;

/** A number above that of every entry. Ids of entries have room for twelve digits. */
const BEHIND_ALL = 999_999_999_999;

export interface LedgerPage {
  readonly entries: readonly LedgerEntryDocument[];
  /** The next page has entries below this number. Undefined at the end. */
  readonly next: number | undefined;
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
 * the time. Changes are entered in any order: if a number has no entry yet, the one before it tells the time. Changes below the
 * result that are not entered yet may be of any time.
 */
async function firstSince(db: Db, account: AccountId, at: Date): Promise<number> {
  const newest = await newestUpTo(db, account, BEHIND_ALL);
  if (newest === undefined || newest.at < at) return BEHIND_ALL;
  let [low, high] = [0, newest.seq - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const entry = await newestUpTo(db, account, middle);
    if (entry === undefined || entry.at < at) low = middle;
    else high = entry.seq - 1;
  }
  return low + 1;
}

/** The entered entry with the highest number that is not above `seq`. */
async function newestUpTo(db: Db, account: AccountId, seq: number): Promise<LedgerEntryDocument | undefined> {
  const stored = await ledgerCollection(db)
    .find({ _id: { $gte: ledgerEntryId(account, 1), $lte: ledgerEntryId(account, seq) } })
    .sort({ _id: -1 })
    .limit(1)
    .next();
  return stored === null ? undefined : entriesIn(stored).findLast((entry) => entry.seq <= seq);
}
