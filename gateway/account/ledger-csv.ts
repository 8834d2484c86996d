import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { LedgerEntryDocument } from '../../shared/ledger/entry.ts';
import { type Clock, isoTimestamp } from '../../shared/runtime/clock.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { refusesOther } from '../access/page-user.ts';
import type { Charge } from '../access/rate-limit.ts';
import { beginStream, sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { type Columns, csvHead, csvLines } from '../http/csv.ts';
import { FieldProblems, invalidRequest } from '../http/fields.ts';
import { parseQuery } from '../http/query.ts';
import { FILTERS, type LedgerFilter, listLedger, parseLedgerFilter } from './ledger-filter.ts';

const COST = 20;
/** Entries of one read, and of the whole file. */
const SLICE = 500;
const ENTRIES_MAX = 100_000;
/** The pause after each read, as a multiple of what it took. */
const REST = 2;

const COLUMNS: Columns<LedgerEntryDocument> = {
  seq: ({ seq }) => seq,
  at: ({ at }) => isoTimestamp(at),
  amount: ({ amount }) => amount,
  balance_after: ({ balanceAfter }) => balanceAfter,
  reason: ({ reason }) => reason,
  reference: ({ reference }) => reference,
  schedule_ids: ({ schedules }) => schedules?.join(' '),
  change_id: ({ change }) => change,
  note: ({ note }) => note,
};

/** GET /v2/ledger.csv (extension): the statement as a file, piece by piece, so that a long one holds nobody up. */
export function createLedgerCsv({
  db,
  clock,
  charge,
}: {
  readonly db: Db;
  readonly clock: Clock;
  readonly charge: Charge;
}): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { user, ...filters } = parseQuery(req, [...FILTERS, 'user'], problems);
    const filter = parseLedgerFilter(filters, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    if (refusesOther(res, user)) return;
    if (!(await charge(res, COST))) return;
    beginStream(res, 'text/csv; charset=utf-8', ['Content-Disposition', 'attachment; filename="statement.csv"']);
    if (req.method === 'HEAD') return void res.end();
    const closed = once(res, 'close');
    res.write(csvHead(COLUMNS));
    for await (const entries of slices(db, clock, callerOf(res).account._id, filter)) {
      // Cut off, so that nobody takes a part for the whole.
      if (res.destroyed || res.locals.stopping.aborted) return void res.destroy();
      const isFull = entries.length > 0 && !res.write(await csvLines(COLUMNS, entries));
      if (isFull) await Promise.race([once(res, 'drain'), closed]);
    }
    res.end();
  };
}

async function* slices(
  db: Db,
  clock: Clock,
  account: AccountId,
  filter: LedgerFilter,
): AsyncGenerator<readonly LedgerEntryDocument[]> {
  let before: number | undefined;
  for (let count = 0; count < ENTRIES_MAX; ) {
    const beganMs = clock.monotonicMs();
    const { entries, next } = await listLedger(db, account, filter, before, SLICE);
    yield entries;
    if (next === undefined) return;
    count += entries.length;
    before = next;
    await setTimeout(REST * (clock.monotonicMs() - beganMs));
  }
}
