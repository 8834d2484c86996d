import { z } from 'zod';
import type { ChangeId } from '../../../shared/money/accounts/account.ts';
import type { LedgerEntryDocument } from '../../../shared/money/ledger/entry.ts';
import { readEntries } from '../../../shared/money/ledger/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { pageAccount, pageUser, refusesOther } from '../../access/page-user.ts';
import { pageMode } from '../../access/test-mode.ts';
import { CSV_PROBLEMS, csvAnswer, sendCsv } from '../../api/csv-file.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text, time, whole } from '../../api/shapes.ts';
import { optional } from '../../http/fields/field.ts';
import { changeId, cursorOf, limit } from '../../http/fields/query.ts';
import { pageOf } from '../../http/page.ts';
import { ledgerFile } from './ledger-file.ts';
import { LEDGER_FILTER, listLedger, REASONS } from './ledger-list.ts';
import { LINKS, type Links, readLinks } from './links.ts';

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

/** This many entries of a page count as one request. Reading them takes the embedded store some 3 ms. */
const ENTRIES_PER_REQUEST = 250;

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
  reads: ({ limit }) => Math.ceil(limit / ENTRIES_PER_REQUEST),
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
