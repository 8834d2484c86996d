import { sendJsonText, sendProblem } from '../http/answer.ts';
import { type Charge, ownerOf, type Reply } from '../http/context.ts';
import type { ProblemSlug } from '../http/problem.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { ReadQueue } from './read-queue.ts';

/**
 * Answers 200 with the result of `read`: an object, or a text that is JSON already. No result is answered with the problem
 * `missing`. `send` replaces the 200, for texts that are not JSON. The read waits in the account's queue, and waiting requests for
 * the same URL are answered by one read. `cost`: how many requests it counts as, at least 1. A key with fewer left gets 429.
 */
export type AnswerRead = (
  res: Reply,
  cost: number,
  read: () => Promise<object | string | undefined>,
  missing?: ProblemSlug,
  send?: (text: string) => void,
) => Promise<void>;

/** The dependencies of endpoints that read lists. */
export interface ReadingDeps extends Pick<GatewayDeps, 'db' | 'clock'> {
  readonly answerRead: AnswerRead;
}

export function createCostlyReads(charge: Charge): AnswerRead {
  const queue = new ReadQueue<string | undefined>();
  return async (res, cost, read, missing = 'not_found', send = (json) => sendJsonText(res, 200, json)) => {
    if (!(await charge(res, cost))) return;
    const text = await queue.run(ownerOf(res), res.req.originalUrl, async () => {
      const found = await read();
      return typeof found === 'object' ? JSON.stringify(found) : found;
    });
    if (text === undefined) sendProblem(res, missing);
    else send(text);
  };
}
