import { systemClock } from './clock.ts';
import { type Log, unexpectedErrorFields } from './log.ts';

/**
 * What a round found.
 *
 * - `more`: work, and perhaps there is more. The next round begins at once.
 * - `all`: all work there was. A loop that hears of new work rests until then, another one asks again at once.
 * - `waiting`: work that cannot be done yet, and nobody tells when it can. It is looked at again soon.
 * - `idle`: nothing. Only what is new brings work.
 */
export type Found = 'more' | 'all' | 'waiting' | 'idle';

/**
 * Asks for work repeatedly: at once after a round that found some, else with growing pauses up to `idleMs`. A failed
 * round is retried with a growing pause of at most two seconds. Of failures in a row the first is logged, then one a
 * minute.
 */
export interface PollLoopOptions {
  readonly name: string;
  readonly idleMs: number;
  /**
   * Least time from the start of a round with this result to the next start, even when woken: what arrives in between
   * is handled together. `idle`: all rounds that are not followed by another at once. Absent: none.
   */
  readonly gapMs?: Readonly<Record<'more' | 'idle', number>>;
  /**
   * Listens for events that make work likely and wakes the loop then. Returns a function that stops listening, or
   * undefined when listening is impossible. Once it has reported anything, the loop's pauses are `HEARING`; until then,
   * listening might not work at all.
   */
  readonly listen?: ((wake: () => void) => (() => void) | undefined) | undefined;
  readonly log: Log;
  work(): Promise<Found>;
}

/** Pauses double from the first to the longest. */
interface Pauses {
  readonly first: number;
  readonly longest: number;
}

const FIRST_PAUSE_MS = 5;
const FAILED: Pauses = { first: 100, longest: 2_000 };
/** Work that becomes due by time alone (a retry) is found at most `longest` late. */
const HEARING: Pauses = { first: 100, longest: 2_000 };
const NO_GAP = { more: 0, idle: 0 };
const LOG_AGAIN_MS = 60_000;

export class PollLoop {
  readonly #options: PollLoopOptions;
  #stopped = false;
  #wake: (() => void) | undefined;
  #woken = false;
  #unlisten: (() => void) | undefined;
  #heard = false;
  /** Failed rounds in a row, and when one of them was logged last. */
  #failures = 0;
  #loggedMs = 0;
  #done: Promise<void> = Promise.resolve();

  constructor(options: PollLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unlisten = this.#options.listen?.(() => {
      this.#heard = true;
      this.wake();
    });
    this.#done = this.#run();
  }

  /** Ends a pause early, because something happened that makes work likely. */
  wake(): void {
    this.#woken = true;
    this.#wake?.();
  }

  /** Lets the current round end and starts no other. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unlisten?.();
    this.wake();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { gapMs = NO_GAP } = this.#options;
    /** Rounds in a row that were not told to begin and found nothing to do. */
    let quiet = 0;
    for (let notBeforeMs = 0; !this.#stopped; ) {
      await this.#rest(notBeforeMs);
      if (this.#stopped) return;
      const beganMs = systemClock.monotonicMs();
      const found = await this.#round();
      if (found === 'more' || (found === 'all' && !this.#heard)) {
        notBeforeMs = beganMs + gapMs.more;
        quiet = 0;
        // Lets sockets and timers run between two rounds.
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      notBeforeMs = beganMs + gapMs.idle;
      if (found === 'all') quiet = 0;
      const { first, longest } = this.#pausesAfter(found);
      const woken = await this.#pause(Math.min(first * 2 ** quiet, longest));
      quiet = woken ? 0 : quiet + 1;
    }
  }

  async #round(): Promise<Found | 'failed'> {
    try {
      const found = await this.#options.work();
      this.#failures = 0;
      return found;
    } catch (error) {
      this.#logFailure(error);
      return 'failed';
    }
  }

  #logFailure(error: unknown): void {
    const { name, log } = this.#options;
    const nowMs = systemClock.monotonicMs();
    this.#failures += 1;
    if (this.#failures > 1 && nowMs - this.#loggedMs < LOG_AGAIN_MS) return;
    this.#loggedMs = nowMs;
    log.warn('round_failed', { loop: name, in_a_row: this.#failures, ...unexpectedErrorFields(error) });
  }

  #pausesAfter(found: Found | 'failed'): Pauses {
    if (found === 'failed') return FAILED;
    return this.#heard && found !== 'waiting' ? HEARING : { first: FIRST_PAUSE_MS, longest: this.#options.idleMs };
  }

  async #rest(untilMs: number): Promise<void> {
    const restMs = untilMs - systemClock.monotonicMs();
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
  }

  async #pause(ms: number): Promise<boolean> {
    if (!this.#woken && !this.#stopped) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const woken = this.#woken;
    this.#wake = undefined;
    this.#woken = false;
    return woken;
  }
}
