import { setTimeout } from 'node:timers/promises';
import { type Clock, systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { nextTurn, turnOver } from '../../shared/platform/runtime/turns.ts';
import { sendJsonText, sendProblem } from '../http/answer.ts';
import { type Charge, ownerOf, type Reply, requesterOf } from '../http/context.ts';
import { isRefused, type Refused } from '../http/idempotency/action.ts';
import type { ProblemSlug } from '../http/problem.ts';
import { isLooking } from './looking.ts';
import { textsFor } from './texts.ts';

/** Larger texts are encoded once for all waiting callers: 20 copies of 6 MB held the event loop for 200 ms. */
const LARGE_CHARACTERS = 65_536;
/**
 * While an account's connections have this many unread bytes of large answers, its next list waits; otherwise slow
 * readers would fill the memory.
 */
const UNREAD_MAX = 33_554_432;

/**
 * Answers 200 with the result of `read`: an object, or a text that is already JSON; undefined becomes the problem
 * `missing`. `send` replaces the 200, for other texts. The read waits in the account's queue; requests that wait for
 * the same URL share it. `cost`: how many requests it counts as, at least 1. A key with fewer left gets 429.
 */
type AnswerRead = (
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
    // Callers who may see different parts of the texts do not share a read. Operators see less of what customers wrote.
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

/**
 * The most reads at a time in one process, over all accounts. The store runs one command at a time, so reads delay
 * sends.
 */
const TOGETHER_MAX = 3;
/** How long an account pauses after a read, as a multiple of its duration: a slow store is asked less often. */
const REST = 2;
const REST_MAX_MS = 250;

interface Waiting<T> {
  readonly begin: () => void;
  readonly result: Promise<T>;
}

/**
 * Keeps reads that cost the store much (lists, counts) from delaying everything else. Each account has one read at a
 * time and pauses after it; a few accounts' reads run at once, in round robin. Equal waiting reads of an account are
 * done once for all callers.
 */
export class ReadQueue<T> {
  /** By account and name. The account that is next comes first. */
  readonly #waiting = new Map<string, Map<string, Waiting<T>>>();
  readonly #reading = new Set<string>();
  readonly #resting = new Set<string>();
  readonly #clock: Clock;
  readonly #isHeld: (account: string) => boolean;

  /** `isHeld`: whether an account's next read must wait for something else. Call `goOn` when that may have changed. */
  constructor(clock: Clock = systemClock, isHeld: (account: string) => boolean = () => false) {
    this.#clock = clock;
    this.#isHeld = isHeld;
  }

  /** Resolves or rejects as `read` does. Reads with the same `name` must give the same result. */
  run(account: string, name: string, read: () => Promise<T>): Promise<T> {
    const reads = this.#waiting.get(account) ?? new Map<string, Waiting<T>>();
    const mine = reads.get(name) ?? newWaiting(read);
    reads.set(name, mine);
    this.#waiting.set(account, reads);
    this.goOn();
    return mine.result;
  }

  goOn(): void {
    for (const [account, reads] of this.#waiting) {
      if (this.#reading.size >= TOGETHER_MAX) return;
      const [first] = reads;
      if (first === undefined || this.#reading.has(account) || this.#resting.has(account)) continue;
      if (this.#isHeld(account)) continue;
      const [name, read] = first;
      reads.delete(name);
      if (reads.size === 0) this.#waiting.delete(account);
      void this.#do(account, read);
    }
  }

  async #do(account: string, { begin, result }: Waiting<T>): Promise<void> {
    this.#reading.add(account);
    const beganMs = this.#clock.monotonicMs();
    begin();
    await result.catch(() => {}); // the callers get the error
    this.#reading.delete(account);
    this.#resting.add(account);
    this.#goBehind(account);
    this.goOn();
    await setTimeout(Math.min((this.#clock.monotonicMs() - beganMs) * REST, REST_MAX_MS));
    this.#resting.delete(account);
    this.goOn();
  }

  #goBehind(account: string): void {
    const reads = this.#waiting.get(account);
    if (reads === undefined) return;
    this.#waiting.delete(account);
    this.#waiting.set(account, reads);
  }
}

function newWaiting<T>(read: () => Promise<T>): Waiting<T> {
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  return { begin, result: begun.then(read) };
}
