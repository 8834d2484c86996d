import type { Clock } from '../../shared/runtime/clock.ts';
import { WINDOW_MS } from './window.ts';

/** The most keys that are counted; then all begin anew. */
const KEYS_MAX = 20_000;

/**
 * Counts requests in this process alone, while the store takes no writes: each gateway process then allows the whole limit. Starts
 * from zero, whatever the store counted before.
 */
export class OwnWindows {
  readonly #clock: Clock;
  readonly #windows = new Map<string, { count: number; readonly endsMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count(key: string): { readonly rank: number; readonly endsMs: number } {
    const nowMs = this.#clock.monotonicMs();
    let window = this.#windows.get(key);
    if (window === undefined || window.endsMs <= nowMs) {
      if (this.#windows.size >= KEYS_MAX) this.#windows.clear();
      window = { count: 0, endsMs: nowMs + WINDOW_MS };
      this.#windows.set(key, window);
    }
    window.count += 1;
    return { rank: window.count, endsMs: window.endsMs };
  }
}
