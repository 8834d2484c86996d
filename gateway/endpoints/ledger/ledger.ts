import { setTimeout } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { z } from 'zod';
import type { ChangeId, LedgerReason } from '../../../shared/money/accounts/account.ts';
import {
  entriesIn,
  type LedgerEntryDocument,
  ledgerCollection,
  ledgerEntryId,
  readEntries,
  readStatement,
} from '../../../shared/money/ledger/store.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { pageAccount, pageMode, pageUser, refusesOther } from '../../access/page-query.ts';
import { type Columns, CSV_PROBLEMS, csvAnswer, csvHead, csvLines, sendCsv } from '../../api/csv.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text, time, whole } from '../../api/shapes.ts';
import { choice, optional, type Values } from '../../http/fields/field.ts';
import { changeId, cursorOf, limit, pageOf, queryTime, readsPer } from '../../http/fields/query.ts';
import { LINKS, type Links, readLinks } from './links.ts';

const REASONS = ['send', 'conversation', 'top_up', 'refund', 'correction'] as const satisfies readonly LedgerReason[];

const LEDGER_FILTER = {
  reason: optional(
    choice(
      REASONS,
      'Only changes of this kind. A page then looks at 1,000 changes at most and may have fewer entries, even none, while `has_more` is true.',
    ),
  ),
  since: optional(queryTime('Only changes at or after this time: ISO 8601 with an offset.')),
  until: optional(queryTime('Only changes before this time.')),
};

type LedgerFilter = Values<typeof LEDGER_FILTER>;

/** Entries read per page when filtering by reason, which no index has. The page may then be short. */
const WALK_MAX = 1_000;

/** Above every entry's number: ids of entries have room for twelve digits. */
const BEHIND_ALL = 999_999_999_999;

interface LedgerPage {
  readonly entries: readonly LedgerEntryDocument[];
  /** The next page has entries below this number. Undefined at the end. */
  readonly next: number | undefined;
}

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
  // The first entry has the number 1.
  return { entries, next: last === 1 ? undefined : last };
}

/**
 * The lowest number at or after `at`, by binary search: numbers and times rise together, and no index has the time.
 * Changes are entered in any order: for a missing number the entry before tells the time. Changes below the result that
 * are not entered yet may be of any time.
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

async function newestUpTo(db: Db, account: AccountId, seq: number): Promise<LedgerEntryDocument | undefined> {
  const stored = await ledgerCollection(db)
    .find({ _id: { $gte: ledgerEntryId(account, 1), $lte: ledgerEntryId(account, seq) } })
    .sort({ _id: -1 })
    .limit(1)
    .next();
  return stored === null ? undefined : entriesIn(stored).findLast((entry) => entry.seq <= seq);
}

/** The account's statement: every change of the balance, numbered without gaps. */

export const LedgerEntry = named('LedgerEntry', 'A line of the statement: one change of the balance.', {
  seq: whole('1, 2, 3 … without a gap.', { minimum: 1, example: 3 }),
  at: time(undefined, '2026-11-21T10:05:00+00:00'),
  amount: whole('Credits; a debit is negative.', { example: -1 }),
  balance_after: whole(undefined, { minimum: 0, example: 5 }),
  reason: z.enum(REASONS),
  reference: text(
    'The id of the batch, the schedule, the conversation, what was refunded, or the top-up; null for single messages, and for a debit that several requests share.',
    { example: 'sch_01m7znjn7hdb5pft3awkb6pgvz' },
  ).nullable(),
  change_id: text('Id of the change.', { example: 'grp_01m7znr2a1c9m0x6t4v8e5qk3b' }),
  schedule_ids: z
    .array(text())
    .meta({
      description:
        'The schedules that a debit paid for; left out if there are none. One debit pays for all requests of the same moment, which can include single messages.',
      example: ['sch_01m7znjn7hdb5pft3awkb6pgvz'],
    })
    .optional(),
  ...LINKS,
  note: text('What the operator said who added or corrected credits; left out if nothing.').optional(),
});

export const ledger = endpoint({
  id: 'ledger',
  call: 'ledger.list',
  method: 'get',
  path: '/v2/ledger',
  tag: 'Reading back',
  summary: 'Statement of the account',
  description:
    'Extension. Every change of the balance, numbered without gaps, newest first. A page counts as one request for each 250 of `limit`.',
  scopes: ['read'],
  test: 'apart',
  query: {
    ...LEDGER_FILTER,
    change_id: optional(changeId('Only this change, as `change_id` of an entry or of a timeline.')),
    limit,
    cursor: cursorOf('ledger', isSeq),
  },
  reads: readsPer(250),
  answer: pageShape('LedgerPage', LedgerEntry, 'The statement, newest first.'),
  async handle({ db }, { caller, query: { limit, cursor, change_id: change, ...filter } }) {
    const account = caller.account._id;
    const before = cursor === undefined ? undefined : Number(cursor);
    const { entries, next } =
      change === undefined
        ? await listLedger(db, account, filter, before, limit)
        : { entries: await readEntries(db, account, [change as ChangeId]), next: undefined }; // only compared with
    const links = await readLinks(db, account, entries);
    const records = entries.map((entry) => entryRecord(entry, links.get(entry.seq)));
    return pageOf('ledger', records, next === undefined ? undefined : String(next));
  },
});

export function isSeq(text: string): text is string {
  return /^[1-9]\d{0,11}$/.test(text);
}

export function entryRecord(entry: LedgerEntryDocument, links: Links = {}): Shown<typeof LedgerEntry> {
  const { seq, amount, balanceAfter, reason, reference, schedules, change, note, at } = entry;
  return {
    seq,
    at: isoTimestamp(at),
    amount,
    balance_after: balanceAfter,
    reason,
    reference: reference ?? null,
    change_id: change,
    schedule_ids: schedules,
    ...links,
    note,
  };
}

export const ledgerCsv = endpoint({
  id: 'ledgerCsv',
  call: 'ledger.csv',
  method: 'get',
  path: '/v2/ledger.csv',
  tag: 'Reading back',
  summary: 'Statement as a file',
  description:
    'Extension. The statement as CSV (RFC 4180), newest first, some 100,000 entries at most. Where older ones were left out, the first cell of the last line says so, with the `until` to ask for them with; its other cells are empty. Texts that a spreadsheet would take for a formula begin with an apostrophe. Counts as 20 requests; an account may download 4 such files at a time from each gateway process.',
  scopes: ['read'],
  test: 'apart',
  query: { ...LEDGER_FILTER, user: pageUser('link'), account: pageAccount(), mode: pageMode() },
  problems: CSV_PROBLEMS,
  openapi: csvAnswer(
    'seq,at,amount,balance_after,reason,reference,schedule_ids,change_id,message_count,message_ids,numbers,references,explanation,repeats,note\r\n1,2026-11-21T09:00:00+00:00,10,10,top_up,invoice-1,,crd_invoice-1,,,,,,,\r\n',
  ),
  async stream(gateway, { caller, query: { user, account: _, ...filter } }, res) {
    if (refusesOther(res, user)) return;
    const { db, clock } = gateway;
    await sendCsv(gateway, res, 'statement.csv', () => ledgerFile(db, clock, caller.account._id, filter));
  },
});

const SLICE = 500;
const ENTRIES_MAX = 100_000;
const REST = 2;

type Line = LedgerEntryDocument & { readonly links?: Links | undefined };

const COLUMNS: Columns<Line> = {
  seq: ({ seq }) => seq,
  at: ({ at }) => isoTimestamp(at),
  amount: ({ amount }) => amount,
  balance_after: ({ balanceAfter }) => balanceAfter,
  reason: ({ reason }) => reason,
  reference: ({ reference }) => reference,
  schedule_ids: ({ schedules }) => schedules?.join(' '),
  change_id: ({ change }) => change,
  message_count: ({ links }) => links?.message_count,
  message_ids: ({ links }) => links?.messages?.flatMap(({ message_id: id }) => id ?? []).join(' '),
  numbers: ({ links }) =>
    links?.messages
      ?.map(({ to }) => to ?? '')
      .join(' ')
      .trim(),
  references: ({ links }) => links?.messages?.flatMap(({ reference }) => reference ?? []).join(' '),
  explanation: ({ links }) => links?.explanation,
  repeats: ({ links }) => links?.repeats?.join(' '),
  note: ({ note }) => note,
};

/** The pieces of the file, some empty. Cut off after `most` entries or some more; the last line then says so. */
export async function* ledgerFile(
  db: Db,
  clock: Clock,
  account: AccountId,
  filter: LedgerFilter,
  most = ENTRIES_MAX,
): AsyncGenerator<string> {
  yield csvHead(COLUMNS);
  let before: number | undefined;
  let oldest = clock.now();
  let count = 0;
  while (count < most) {
    const beganMs = clock.monotonicMs();
    const { entries, next } = await listLedger(db, account, filter, before, SLICE);
    const links = await readLinks(db, account, entries);
    yield await csvLines(
      COLUMNS,
      entries.map((entry) => ({ ...entry, links: links.get(entry.seq) })),
    );
    if (next === undefined) return;
    count += entries.length;
    before = next;
    oldest = entries.at(-1)?.at ?? oldest;
    await setTimeout(REST * (clock.monotonicMs() - beganMs));
  }
  // Others of the same millisecond may be missing, so the next file begins with it.
  const until = new Date(oldest.getTime() + 1).toISOString();
  yield await csvLines(CUT_OFF, [`Cut off after ${count} entries. Ask for older ones with until=${until}`]);
}

/** As many cells as any other line, none of which looks like a number. */
const CUT_OFF: Columns<string> = {
  ...Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, () => undefined])),
  seq: (text) => text,
};
