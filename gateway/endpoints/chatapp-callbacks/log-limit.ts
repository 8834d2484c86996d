import type { Clock } from '../../../shared/runtime/clock.ts';

const QUIET_MS = 60_000;
/** The most subjects in a minute. A sender of made-up ids cannot fill the log. */
const SUBJECTS_MAX = 100;

/** Limits warnings about what others send to one a minute for each subject. */
export class LogLimit {
  readonly #clock: Clock;
  /** Until when, oldest first. */
  readonly #quiet = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether this may be logged now. */
  allows(subject: string): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const [known, untilMs] of this.#quiet) {
      if (untilMs > nowMs) break;
      this.#quiet.delete(known);
    }
    if (this.#quiet.has(subject) || this.#quiet.size >= SUBJECTS_MAX) return false;
    this.#quiet.set(subject, nowMs + QUIET_MS);
    return true;
  }
}
