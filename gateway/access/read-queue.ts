import { setTimeout } from 'node:timers/promises';
import { type Clock, systemClock } from '../../shared/platform/runtime/clock.ts';

/**
 * How many reads run at a time in one process, over all accounts. The store does one command after the other, so each
 * read delays sends.
 */
const TOGETHER_MAX = 3;
/**
 * How long an account pauses after a read, as a multiple of the time that the read took. When the store is slow,
 * accounts ask it less often.
 */
const REST = 2;
const REST_MAX_MS = 250;

interface Waiting<T> {
  readonly begin: () => void;
  readonly result: Promise<T>;
}

/**
 * Keeps reads that cost the store much (lists, counts) from delaying everything else. Each account has one read at a
 * time and a pause after it. A few reads run for all accounts together, in round robin. A customer with many
 * connections delays only its own reads. Equal reads of an account that have not begun are done once for all callers.
 */
export class ReadQueue<T> {
  /** By account and name. The account that is next comes first. */
  readonly #waiting = new Map<string, Map<string, Waiting<T>>>();
  /** Accounts with a running read, and accounts in the pause after one. */
  readonly #reading = new Set<string>();
  readonly #resting = new Set<string>();
  readonly #clock: Clock;
  readonly #isHeld: (account: string) => boolean;

  /** `isHeld`: whether an account's next read must wait for something else; `goOn` says that it may have changed. */
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

  /** Begins what may begin. */
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

  /** Moves the account that was just served to the end. */
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
