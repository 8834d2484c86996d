import { STATUS } from '../../shared/carriers/command-status.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

/**
 * When to connect again. Full jitter: a carrier that comes back is not met by all its clients at once. Errors that only a person can
 * mend go by a slow lane: carriers lock accounts that try a wrong password again and again.
 */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** A bind that lived so long starts from the beginning; one that breaks at once does not. */
const STEADY_MS = 60_000;
const SLOW_MS = 60_000;
/** An earlier session of ours is still up at the carrier. */
const STILL_BOUND_MS = 30_000;

const SLOW_STATUSES: ReadonlySet<number> = new Set([STATUS.bindFailed, STATUS.invalidPassword, STATUS.invalidSystemId]);

export class Backoff {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;
  #boundMs: number | undefined;

  constructor(clock: Clock, random: () => number = Math.random) {
    this.#clock = clock;
    this.#random = random;
  }

  bound(): void {
    this.#boundMs = this.#clock.monotonicMs();
  }

  /** How long to wait after a try that ended; `bindStatus` when the carrier refused the bind. */
  nextMs(bindStatus?: number): number {
    if (this.#boundMs !== undefined && this.#clock.monotonicMs() - this.#boundMs >= STEADY_MS) this.#failures = 0;
    this.#boundMs = undefined;
    const ceiling = Math.min(FIRST_MS * 2 ** this.#failures, LONGEST_MS);
    this.#failures = Math.min(this.#failures + 1, 16);
    const jittered = Math.max(ceiling * this.#random(), 50);
    if (bindStatus === undefined) return jittered;
    if (SLOW_STATUSES.has(bindStatus)) return SLOW_MS + jittered;
    if (bindStatus === STATUS.alreadyBound) return STILL_BOUND_MS + jittered;
    return jittered;
  }
}
