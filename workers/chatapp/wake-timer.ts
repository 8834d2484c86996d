import type { Clock } from '../../shared/platform/runtime/clock.ts';

/** Wakes a loop after a time. During a rest no other call can wake the loop. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  get resting(): boolean {
    return this.#clock.monotonicMs() < this.#notBeforeMs;
  }

  /** Rests for this time, then wakes. */
  rest(ms: number): void {
    this.#notBeforeMs = this.#clock.monotonicMs() + ms;
    this.wakeIn(ms);
  }

  /** Wakes at the end of the rest. */
  wakeAfterRest(): void {
    this.wakeIn(this.#notBeforeMs - this.#clock.monotonicMs());
  }

  /** Wakes after this time. Replaces the time that was set before. */
  wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    // One millisecond more, because a timer can fire slightly early.
    if (!this.#closed) this.#timer = setTimeout(this.#wake, Math.ceil(ms) + 1);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
