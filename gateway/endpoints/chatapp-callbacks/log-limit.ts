import type { Clock } from '../../../shared/platform/runtime/clock.ts';

const QUIET_MS = 60_000;
/** The most subjects in a minute, so that made-up ids cannot fill the log. */
const SUBJECTS_MAX = 100;

/** At most one warning a minute for each subject that outsiders cause. */
export class LogLimit {
  readonly #clock: Clock;
  /** Until when a subject is quiet, oldest first. */
  readonly #quiet = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

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
