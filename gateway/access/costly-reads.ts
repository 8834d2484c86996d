import { sendJsonText, sendProblem } from '../http/answer.ts';
import { callerOf, type Reply } from '../http/context.ts';
import type { ProblemSlug } from '../http/problem.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Charge } from './rate-limit.ts';
import { ReadQueue } from './read-queue.ts';

/**
 * Answers 200 with what `read` gives (a text is JSON already), or with the problem `missing` when that is nothing. `cost`: as how many requests it
 * counts, 1 at least; with fewer left it is 429. It waits in the account's queue; requests for the same URL that wait there are answered by one read.
 */
export type AnswerRead = (
  res: Reply,
  cost: number,
  read: () => Promise<object | string | undefined>,
  missing?: ProblemSlug,
) => Promise<void>;

/** What endpoints that read lists take. */
export interface ReadingDeps extends Pick<GatewayDeps, 'db' | 'clock'> {
  readonly answerRead: AnswerRead;
}

export function createCostlyReads(charge: Charge): AnswerRead {
  const queue = new ReadQueue<string | undefined>();
  return async (res, cost, read, missing = 'not_found') => {
    if (!(await charge(res, cost))) return;
    const json = await queue.run(callerOf(res).account._id, res.req.originalUrl, async () => {
      const found = await read();
      return typeof found === 'object' ? JSON.stringify(found) : found;
    });
    if (json === undefined) sendProblem(res, missing);
    else sendJsonText(res, 200, json);
  };
}
