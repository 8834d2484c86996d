import type { Clock } from '../../shared/platform/runtime/clock.ts';

/**
 * A circuit breaker: while a provider fails, it keeps the account's messages from being tried one after the other.
 * `closed`: sends may begin · `open`: after `FAILURES` failures in a row no send begins during a pause · `half_open`:
 * after the pause one send probes the provider, if that answers something harmless first (send-message.ts); its success closes the
 * breaker, its failure opens it for longer.
 * Every answer about a message is a success, even a refusal.
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

  /** `random` returns a number from 0 to 1. `onTrial`: the first send is a probe. */
  constructor(clock: Clock, random: () => number, onTrial = false) {
    this.#clock = clock;
    this.#random = random;
    if (onTrial) this.#state = 'half_open';
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

  /** Time until a probe may begin. 0 when it may begin now, or does not depend on time. */
  get waitMs(): number {
    return this.state === 'open' ? Math.ceil(this.#openUntilMs - this.#clock.monotonicMs()) : 0;
  }

  /** A send begins. True when it is the probe. */
  begin(): boolean {
    if (this.state !== 'half_open') return false;
    this.#probing = true;
    return true;
  }

  /**
   * The provider answered. While the breaker is not closed only the probe counts: other sends began before the
   * provider failed.
   */
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
    // Half fixed, half random, so that the accounts of one provider do not probe it at the same moment.
    this.#openUntilMs = this.#clock.monotonicMs() + pauseMs * (0.5 + this.#random() / 2);
  }

  /** The send did not take place. */
  withdrawn(probe: boolean): void {
    if (probe) this.#probing = false;
  }
}
