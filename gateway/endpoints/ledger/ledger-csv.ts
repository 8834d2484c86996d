import { once } from 'node:events';
import type { Db } from 'mongodb';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { refusesOther } from '../../access/page-user.ts';
import { beginStream, sendProblem } from '../../http/answer.ts';
import { type Charge, callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { parseQuery } from '../../http/query.ts';
import { ledgerFile } from './ledger-file.ts';
import { FILTERS, parseLedgerFilter } from './ledger-filter.ts';

const COST = 20;

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
    for await (const piece of ledgerFile(db, clock, callerOf(res).account._id, filter)) {
      // Cut off, so that nobody takes a part for the whole.
      if (res.destroyed || res.locals.stopping.aborted) return void res.destroy();
      if (piece !== '' && !res.write(piece)) await Promise.race([once(res, 'drain'), closed]);
    }
    res.end();
  };
}
