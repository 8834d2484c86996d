import type { LedgerEntryDocument } from '../../../shared/money/ledger/entry.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { FILTERS, listLedger, parseLedgerFilter } from './ledger-filter.ts';

/** This many entries of a page count as one request. Reading them takes the embedded store some 3 ms. */
const ENTRIES_PER_REQUEST = 250;

/** GET /v2/ledger (extension): every change of the account's balance, newest first, numbered without gaps. */
export function createLedger({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, [...FILTERS, 'limit', 'cursor'], problems);
    const filter = parseLedgerFilter(query, problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'ledger', isSeq, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const before = after === undefined ? undefined : Number(after);
      const { entries, next } = await listLedger(db, account, filter, before, limit);
      return pageOf('ledger', entries.map(entryRecord), next === undefined ? undefined : String(next));
    });
  };
}

export function isSeq(text: string): text is string {
  return /^[1-9]\d{0,11}$/.test(text);
}

export function entryRecord(entry: LedgerEntryDocument): object {
  const { seq, amount, balanceAfter, reason, reference, schedules, change, note, at } = entry;
  return {
    seq,
    at: isoTimestamp(at),
    amount,
    balance_after: balanceAfter,
    reason,
    /**
     * The id of what was paid for: a batch, a schedule, a conversation, what was refunded, or the top-up. Null for
     * single messages, and for a debit that several requests share.
     */
    reference: reference ?? null,
    change_id: change,
    schedule_ids: schedules,
    /** What an operator said with a top-up or a correction. */
    note,
  };
}
