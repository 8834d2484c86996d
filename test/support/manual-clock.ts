import type { Clock } from '../../shared/platform/runtime/clock.ts';

/** A clock turned by the test: wall and monotonic time move together, unless the machine is suspended. */
export class ManualClock implements Clock {
  #ms: number;
  #suspendedMs = 0;

  constructor(start: Date = new Date('2026-11-21T10:00:00Z')) {
    this.#ms = start.getTime();
  }

  now(): Date {
    return new Date(this.#ms + this.#suspendedMs);
  }

  monotonicMs(): number {
    return this.#ms;
  }

  turn(ms: number): void {
    this.#ms += ms;
  }

  suspend(ms: number): void {
    this.#suspendedMs += ms;
  }
}
