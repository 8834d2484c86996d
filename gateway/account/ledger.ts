import type { LedgerEntryDocument } from '../../shared/ledger/entry.ts';
import { readStatement } from '../../shared/ledger/statement.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import type { ReadingDeps } from '../access/costly-reads.ts';
import { sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { FieldProblems, invalidRequest } from '../http/fields.ts';
import { pageOf, parseCursor, parseLimit } from '../http/page.ts';
import { parseQuery } from '../http/query.ts';

/** A number above that of every entry: ids of entries have room for twelve digits. */
const BEHIND_ALL = 999_999_999_999;

/** Entries of a page that count as one request: some 3 ms of the embedded store. */
const ENTRIES_PER_REQUEST = 250;

/** GET /v2/ledger (extension): the account's statement, newest first: every change of the balance, numbered without a gap. */
export function createLedger({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'ledger', isSeq, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const before = after === undefined ? BEHIND_ALL : Number(after);
    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const entries = await readStatement(db, account, before, limit);
      const last = entries.at(-1)?.seq ?? 1;
      // The first entry of an account has the number 1.
      return pageOf('ledger', entries.map(entryRecord), last === 1 ? undefined : String(last));
    });
  };
}

function isSeq(text: string): text is string {
  return /^[1-9]\d{0,11}$/.test(text);
}

function entryRecord(entry: LedgerEntryDocument): object {
  const { seq, amount, balanceAfter, reason, reference, schedules, change, at } = entry;
  return {
    seq,
    at: isoTimestamp(at),
    amount,
    balance_after: balanceAfter,
    reason,
    /** What it was for: a batch, a schedule, a conversation, what was refunded, the top-up's own id; null for what several requests paid together, and for single messages. */
    reference: reference ?? null,
    change_id: change,
    schedule_ids: schedules,
  };
}
