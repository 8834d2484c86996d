import { systemClock } from './clock.ts';
import { errorFields, type Log } from './log.ts';

/**
 * Asks for work repeatedly: at once after a round that found some, else with growing pauses up to `idleMs`. A failed round is
 * logged and retried with a growing pause (at most `ERROR_MS_MAX`). So a store that is away for an hour causes a few log lines,
 * and the worker continues by itself when it is back.
 */
export interface PollLoopOptions {
  readonly name: string;
  /** Longest pause while there is nothing to do. */
  readonly idleMs: number;
  /**
   * Least time from the start of a round with this result to the start of the next, even when the loop is woken. What arrives in
   * between is handled together. Absent: none.
   */
  readonly gapMs?: Readonly<Record<'more' | 'idle', number>>;
  /**
   * Listens for events that make work likely and wakes the loop then. Returns a function that stops listening, or undefined when
   * listening is impossible. Once it has reported anything, pauses grow to `LISTENING_MS`; until then, it might not work at all.
   */
  readonly listen?: ((wake: () => void) => (() => void) | undefined) | undefined;
  readonly log: Log;
  /** One round. Returns `more` when there may be more work at once. */
  work(): Promise<'more' | 'idle'>;
}

const ERROR_MS_MAX = 2_000;
const FIRST_PAUSE_MS = 5;
const NO_GAP = { more: 0, idle: 0 };
/** Work that becomes due by time alone (a retry) is found at most this late. */
const LISTENING_MS = 2_000;

export class PollLoop {
  readonly #options: PollLoopOptions;
  #stopped = false;
  #wake: (() => void) | undefined;
  #woken = false;
  #unlisten: (() => void) | undefined;
  #heard = false;
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
    const { work, idleMs, gapMs = NO_GAP, name, log } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    for (let notBeforeMs = 0; !this.#stopped; ) {
      await this.#rest(notBeforeMs);
      if (this.#stopped) return;
      let longestMs = this.#heard ? LISTENING_MS : idleMs;
      const beganMs = systemClock.monotonicMs();
      notBeforeMs = beganMs + gapMs.idle;
      try {
        if ((await work()) === 'more') {
          notBeforeMs = beganMs + gapMs.more;
          pauseMs = FIRST_PAUSE_MS;
          // Lets sockets and timers run between two rounds.
          await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
      } catch (error) {
        longestMs = ERROR_MS_MAX;
        pauseMs = Math.max(pauseMs, 100);
        log.warn('round_failed', { loop: name, ...errorFields(error) });
      }
      const woken = await this.#pause(pauseMs);
      pauseMs = woken ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, longestMs);
    }
  }

  async #rest(untilMs: number): Promise<void> {
    const restMs = untilMs - systemClock.monotonicMs();
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
  }

  /** Returns whether something ended the pause early. */
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
