import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { entryRecord, isSeq } from '../ledger/ledger.ts';
import { listLedger } from '../ledger/ledger-filter.ts';
import { accountInPath } from './find-account.ts';

/** GET /v2/admin/accounts/{account_id}/ledger (extension): the account's own statement, and which operator changed its balance. */
export function createAccountStatement({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'ledger', isSeq, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = await accountInPath(db, req);
    if (account === undefined) return sendProblem(res, 'account_not_found');
    const before = after === undefined ? undefined : Number(after);
    const { entries, next } = await listLedger(db, account._id, {}, before, limit);
    const records = entries.map((entry) => ({ ...entryRecord(entry), by: entry.by ?? null }));
    sendJson(res, pageOf('ledger', records, next === undefined ? undefined : String(next)));
  };
}
