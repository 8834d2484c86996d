import type { Db } from 'mongodb';
import type { LedgerReason } from '../../shared/accounts/account.ts';
import { type LedgerEntryDocument, ledgerEntryId } from '../../shared/ledger/entry.ts';
import { readStatement } from '../../shared/ledger/statement.ts';
import { ledgerCollection } from '../../shared/ledger/store.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import type { FieldProblems } from '../http/fields.ts';
import { parseQueryTime } from '../http/query.ts';

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
  const reason = REASONS.find((known) => known === query.reason);
  if (reason === undefined && query.reason !== undefined) {
    problems.add('reason', 'invalid_value', `It must be one of ${REASONS.join(', ')}.`);
  }
  return {
    reason,
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
 * The number of the first entry at or after `at`. Numbers and times rise together, so a search by halves finds it without an index
 * on the time. Entries that are not stored yet are newer than all that are.
 */
async function firstSince(db: Db, account: AccountId, at: Date): Promise<number> {
  const ledger = ledgerCollection(db);
  const [newest] = await ledger
    .find({ _id: { $gte: ledgerEntryId(account, 1), $lte: ledgerEntryId(account, BEHIND_ALL) } })
    .sort({ _id: -1 })
    .limit(1)
    .toArray();
  if (newest === undefined || newest.at < at) return BEHIND_ALL;
  let [low, high] = [1, newest.seq];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await ledger.findOne({ _id: ledgerEntryId(account, middle) }, { projection: { at: 1 } });
    if (found !== null && found.at < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
