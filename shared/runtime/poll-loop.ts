import { systemClock } from './clock.ts';
import { errorFields, type Log } from './log.ts';

/**
 * Asks for work again and again: at once after a round that found some, else less and less often, up to `idleMs`.
 * A failing round is logged and tried again with a growing pause (`ERROR_MS_MAX` at most): a store that is away for an
 * hour costs a line now and then, and the worker goes on by itself when it is back.
 */
export interface PollLoopOptions {
  readonly name: string;
  /** The longest pause while there is nothing to do. */
  readonly idleMs: number;
  /**
   * The least time from the beginning of a round that ended so to that of the next, also when the loop is woken: what comes in
   * between is handled together. Left out: none.
   */
  readonly gapMs?: Readonly<Record<'more' | 'idle', number>>;
  /**
   * Listens for what makes work likely and wakes the loop then; returns how to stop that, or undefined when it cannot. Once
   * it has heard anything, pauses grow to `LISTENING_MS`; a listener that hears nothing at all may be deaf.
   */
  readonly listen?: ((wake: () => void) => (() => void) | undefined) | undefined;
  readonly log: Log;
  /** One round; tells whether there may be more at once. */
  work(): Promise<'more' | 'idle'>;
}

const ERROR_MS_MAX = 2_000;
const FIRST_PAUSE_MS = 5;
const NO_GAP = { more: 0, idle: 0 };
/** Work that only time brings (a retry that falls due) is found this late at most. */
const LISTENING_MS = 1_000;

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

  /** Ends a pause early: something happened that makes work likely. */
  wake(): void {
    this.#woken = true;
    this.#wake?.();
  }

  /** Lets the round in progress end and starts no other. */
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
          // Let sockets and timers have their turn between two rounds.
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

  /** Whether something ended it early. */
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
