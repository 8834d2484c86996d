import { setTimeout } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { LedgerEntryDocument } from '../../../shared/money/ledger/entry.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { type Columns, csvHead, csvLines } from '../../http/csv.ts';
import { type LedgerFilter, listLedger } from './ledger-list.ts';
import { type Links, readLinks } from './links.ts';

/** Entries of one read, and of the whole file. */
const SLICE = 500;
const ENTRIES_MAX = 100_000;
/** The pause after each read, as a multiple of what it took. */
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

/** The pieces of the file, some of them empty. It is cut off after `most` entries, or some more. Its last line then says so. */
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
  // Others of the same millisecond may be missing: the next file begins with it.
  const until = new Date(oldest.getTime() + 1).toISOString();
  yield await csvLines(CUT_OFF, [`Cut off after ${count} entries. Ask for older ones with until=${until}`]);
}

/** As many cells as any other line, none of which a program takes for a number. */
const CUT_OFF: Columns<string> = {
  ...Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, () => undefined])),
  seq: (text) => text,
};
