import { isNumberKey, type NumberDocument } from '../../../shared/carriers/numbers/number.ts';
import { listNumbers } from '../../../shared/carriers/numbers/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 250;

/** GET /v2/account/numbers (extension): the numbers, and keywords of shared numbers, whose received SMS are the account's. */
export function createOwnNumbers({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'numbers', isNumberKey, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const found = await listNumbers(db, account, limit + 1, after);
      const page = found.slice(0, limit);
      return pageOf('numbers', page.map(numberRecord), found.length > limit ? page.at(-1)?._id : undefined);
    });
  };
}

function numberRecord({ number, keyword, country, createdAt }: NumberDocument): object {
  return {
    number,
    keyword: keyword === '' ? null : keyword,
    country: country ?? null,
    created_at: isoTimestamp(createdAt),
  };
}
