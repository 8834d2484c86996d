import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { nextTurn, turnOver } from '../../shared/platform/runtime/turns.ts';
import { sendJsonText, sendProblem } from '../http/answer.ts';
import { type Charge, ownerOf, type Reply, requesterOf } from '../http/context.ts';
import { isRefused, type Refused } from '../http/idempotency/action.ts';
import type { ProblemSlug } from '../http/problem.ts';
import { isLooking } from './looking.ts';
import { ReadQueue } from './read-queue.ts';
import { textsFor } from './texts.ts';

/** A longer text is made octets once for all callers who wait for it: 20 copies of 6 MB held the event loop for 200 ms. */
const LARGE_CHARACTERS = 65_536;
/**
 * Octets of large answers that an account may leave unread in a process before its next list is read. An answer has some MB and is
 * kept for as long as its caller takes a little of it: many connections of one account would fill the memory.
 */
const UNREAD_MAX = 33_554_432;

/**
 * Answers 200 with the result of `read`: an object, or a text that is JSON already. No result is answered with the problem
 * `missing`. `send` replaces the 200, for texts that are not JSON. The read waits in the account's queue, and waiting requests for
 * the same URL are answered by one read. `cost`: how many requests it counts as, at least 1. A key with fewer left gets 429.
 */
export type AnswerRead = (
  res: Reply,
  cost: number,
  read: () => Promise<object | string | Refused | undefined>,
  missing?: ProblemSlug,
  send?: (text: string | Buffer) => void,
) => Promise<void>;

export function createCostlyReads(charge: Charge): AnswerRead {
  const unread = new Map<string, number>();
  const queue = new ReadQueue<string | Buffer | Refused | undefined>(
    systemClock,
    (owner) => (unread.get(owner) ?? 0) > UNREAD_MAX,
  );
  return async (res, cost, read, missing = 'not_found', send = (json) => sendJsonText(res, 200, json)) => {
    if (!(await charge(res, cost))) return;
    const owner = ownerOf(res);
    // Who is shown more of the texts does not share a read with who is shown less. Operators see less of what customers wrote.
    const requester = requesterOf(res);
    const asked = `${textsFor(requester)} ${isLooking(requester)} ${res.req.originalUrl}`;
    const text = await queue.run(owner, asked, async () => {
      const found = await read();
      if (typeof found === 'object' && isRefused(found)) return found;
      const json = typeof found === 'object' ? JSON.stringify(found) : found;
      return json === undefined || json.length <= LARGE_CHARACTERS ? json : Buffer.from(json);
    });
    if (text === undefined) return sendProblem(res, missing);
    if (typeof text === 'object' && isRefused(text)) return sendProblem(res, ...text.problem);
    if (typeof text !== 'string') {
      if (turnOver()) await nextTurn();
      keep(owner, text.length, res);
    }
    send(text);
  };

  /** Counts it until all of it is on its way, or its connection is lost. */
  function keep(owner: AccountId, bytes: number, res: Reply): void {
    if (res.closed) return;
    unread.set(owner, (unread.get(owner) ?? 0) + bytes);
    res.once('close', () => {
      const left = (unread.get(owner) ?? 0) - bytes;
      if (left > 0) unread.set(owner, left);
      else unread.delete(owner);
      queue.goOn();
    });
  }
}
