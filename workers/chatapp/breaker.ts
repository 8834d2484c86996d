import type { Clock } from '../../shared/runtime/clock.ts';

/**
 * Keeps an account's messages from being tried one after the other at a provider that fails. `closed`: sends go · `open`:
 * after `FAILURES` failures in a row nothing goes for a pause · `half_open`: then one send probes whether it is back; a success
 * closes it, a failure opens it for longer. Any answer about a message is a success, a refusal too.
 */
export type BreakerState = 'closed' | 'open' | 'half_open';

const FAILURES = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

export class Breaker {
  readonly #clock: Clock;
  readonly #random: () => number;
  #state: BreakerState = 'closed';
  #failures = 0;
  #pauses = 0;
  #openUntilMs = 0;
  #probing = false;

  /** `random` from 0 to 1. */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  get state(): BreakerState {
    if (this.#state === 'open' && this.#clock.monotonicMs() >= this.#openUntilMs) this.#state = 'half_open';
    return this.#state;
  }

  /** How many sends may begin now. */
  get room(): number {
    if (this.state === 'closed') return Number.POSITIVE_INFINITY;
    return this.#state === 'half_open' && !this.#probing ? 1 : 0;
  }

  /** Until a probe may go; 0 when that is now, or not a matter of time. */
  get waitMs(): number {
    return this.state === 'open' ? Math.ceil(this.#openUntilMs - this.#clock.monotonicMs()) : 0;
  }

  /** A send begins; returns whether it is the probe. */
  begin(): boolean {
    if (this.state !== 'half_open') return false;
    this.#probing = true;
    return true;
  }

  /** The provider answered. Sends that began before it failed tell nothing about now, only the probe does. */
  succeeded(probe: boolean): void {
    if (this.#state !== 'closed' && !probe) return;
    this.#state = 'closed';
    this.#probing = false;
    this.#failures = 0;
    this.#pauses = 0;
  }

  failed(probe: boolean): void {
    if (probe) this.#probing = false;
    else if (this.#state !== 'closed' || ++this.#failures < FAILURES) return;
    this.#state = 'open';
    this.#failures = 0;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#pauses, LONGEST_PAUSE_MS);
    this.#pauses = Math.min(this.#pauses + 1, 16);
    // Half fixed, half random: the accounts of one provider do not come back in step.
    this.#openUntilMs = this.#clock.monotonicMs() + pauseMs * (0.5 + this.#random() / 2);
  }

  /** The send did not take place after all. */
  withdrawn(probe: boolean): void {
    if (probe) this.#probing = false;
  }
}
