import type { CarrierMeasured } from '../../../shared/carriers/bind-report.ts';
import type { CommandStatusClass } from '../../../shared/carriers/command-status.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';

/** How many answer times are remembered. That is enough for a p99. */
const REMEMBERED = 1_000;

/** What was measured since one carrier's run began, for people: how long answers took, what they said, and what receipts said. */
export class Measurements {
  readonly #clock: Clock;
  readonly #since: Date;
  readonly #answerMs: number[] = [];
  #next = 0;
  readonly #answers: Record<string, number> = {};
  readonly #receipts: Record<string, number> = {};
  #lastRefusal: CarrierMeasured['lastRefusal'];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** `counted`: the class that it is counted as. */
  answered(
    { code, reason }: { readonly code: string; readonly reason: string },
    counted: CommandStatusClass,
    ms: number,
  ): void {
    this.#answers[counted] = (this.#answers[counted] ?? 0) + 1;
    this.#answerMs[this.#next] = ms;
    this.#next = (this.#next + 1) % REMEMBERED;
    if (counted !== 'accepted') this.#lastRefusal = { code, reason, at: this.#clock.now() };
  }

  receipt(state: string): void {
    this.#receipts[state] = (this.#receipts[state] ?? 0) + 1;
  }

  /** `perSecond`: the current rate; Infinity for no limit. `unanswered`: the number for each bind. */
  report(perSecond: number, unanswered: readonly number[]): CarrierMeasured {
    const times = this.#answerMs.toSorted((a, b) => a - b);
    const at = (part: number): number => Math.round(times[Math.ceil(part * times.length) - 1] ?? 0);
    return {
      since: this.#since,
      unanswered,
      answers: { ...this.#answers },
      receipts: { ...this.#receipts },
      ...(Number.isFinite(perSecond) ? { perSecond: Math.round(perSecond * 10) / 10 } : {}),
      ...(times.length === 0 ? {} : { answerMs: { p50: at(0.5), p99: at(0.99) } }),
      ...(this.#lastRefusal === undefined ? {} : { lastRefusal: this.#lastRefusal }),
    };
  }
}
