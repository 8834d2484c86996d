import type { Clock } from '../../shared/runtime/clock.ts';

/** When a loop looks again by itself, and until when it rests whoever wakes it. */
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

  /** Rests for so long, then wakes. */
  rest(ms: number): void {
    this.#notBeforeMs = this.#clock.monotonicMs() + ms;
    this.wakeIn(ms);
  }

  /** Wakes after so long, and not at the time that was set before. */
  wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    // One more, because a timer may come early by a part of a millisecond.
    if (!this.#closed) this.#timer = setTimeout(this.#wake, Math.ceil(ms) + 1);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
