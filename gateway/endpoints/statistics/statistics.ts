import { readHours, readNewestCount } from '../../../shared/messages/statistics-store.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import { PERIODS, type PeriodName, stepsOf } from './period.ts';
import { statisticsRecord } from './summary.ts';

const NAMES = Object.keys(PERIODS) as PeriodName[]; // its own keys

/** How many requests it counts as: a month is 720 small documents at most. */
const COST = 2;

/** GET /v2/account/statistics (extension): what became of the account's messages, as the maintenance counted it last. */
export function createStatistics({ db, clock, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { period = '24h' } = parseQuery(req, ['period'], problems);
    const name = parseQueryChoice('period', period, NAMES, problems);
    if (name === undefined || problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = callerOf(res).account._id;
    await answerRead(res, COST, async () => {
      const now = clock.now();
      const [from = now] = stepsOf(name, now);
      const [hours, countedAt] = await Promise.all([readHours(db, account, from), readNewestCount(db)]);
      return statisticsRecord(name, hours, countedAt, now);
    });
  };
}
