import { setTimeout } from 'node:timers/promises';
import { type Clock, systemClock } from '../../shared/runtime/clock.ts';

/** Reads of all accounts at a time in one process: the store does one command after the other, and sends stand between them. */
const TOGETHER_MAX = 3;
/** How long an account pauses after a read, in the time that the read took: when all is slow it asks for less. */
const REST = 2;
const REST_MAX_MS = 250;

interface Waiting<T> {
  readonly begin: () => void;
  readonly result: Promise<T>;
}

/**
 * Keeps reads that cost the store much (lists, counts) from delaying everything else: one at a time for each account, with a
 * pause after it, and few for all accounts together, in round robin. Whoever asks over many connections waits for his own
 * reads only. Reads of one account and name that have not begun are one: all who asked get its result.
 */
export class ReadQueue<T> {
  /** By account and name; the account that is served next comes first. */
  readonly #waiting = new Map<string, Map<string, Waiting<T>>>();
  /** Accounts that have a read under way, and those that pause after one. */
  readonly #reading = new Set<string>();
  readonly #resting = new Set<string>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Resolves or rejects as `read` does. `name`: the same for reads that give the same. */
  run(account: string, name: string, read: () => Promise<T>): Promise<T> {
    const reads = this.#waiting.get(account) ?? new Map<string, Waiting<T>>();
    const mine = reads.get(name) ?? newWaiting(read);
    reads.set(name, mine);
    this.#waiting.set(account, reads);
    this.#beginNext();
    return mine.result;
  }

  #beginNext(): void {
    for (const [account, reads] of this.#waiting) {
      if (this.#reading.size >= TOGETHER_MAX) return;
      const [first] = reads;
      if (first === undefined || this.#reading.has(account) || this.#resting.has(account)) continue;
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
    await result.catch(() => {}); // told to whoever asked
    this.#reading.delete(account);
    this.#resting.add(account);
    this.#goBehind(account);
    this.#beginNext();
    await setTimeout(Math.min((this.#clock.monotonicMs() - beganMs) * REST, REST_MAX_MS));
    this.#resting.delete(account);
    this.#beginNext();
  }

  /** The account that was just served comes last. */
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
