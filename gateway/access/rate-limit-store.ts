import type { ClientRateLimitInfo, Store } from 'express-rate-limit';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { RateCounter } from './counter.ts';

/** What express-rate-limit hands to its store is one string: who is counted, and the limit that the counter wants to know. */
export function storeKey(key: string, limit: number): string {
  return `${limit} ${key}`;
}

/** The store of express-rate-limit that counts in the product's own, over all processes. */
export class RateLimitStore implements Store {
  readonly #counter: RateCounter;
  readonly #clock: Clock;

  constructor(counter: RateCounter, clock: Clock) {
    this.#counter = counter;
    this.#clock = clock;
  }

  async increment(storedKey: string): Promise<ClientRateLimitInfo> {
    const blank = storedKey.indexOf(' ');
    const { rank, endsMs } = await this.#counter.count(storedKey.slice(blank + 1), Number(storedKey.slice(0, blank)));
    const restMs = endsMs - this.#clock.monotonicMs();
    return { totalHits: rank, resetTime: new Date(this.#clock.now().getTime() + restMs) };
  }

  /** Part of the interface; every request counts, whatever became of it. */
  decrement(): void {}

  /** Part of the interface; a window ends by itself. */
  resetKey(): void {}
}
