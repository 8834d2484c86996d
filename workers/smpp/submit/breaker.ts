import type { Clock } from '../../../shared/platform/runtime/clock.ts';

/**
 * What an answer says about the carrier itself. `good`: it works, whatever it said about the message. `refused`: it
 * certainly did not take a message that another carrier may take. `fault`: it reported an error of its own, or gave no
 * answer. A throttled answer is not counted.
 */
export type BreakerAnswer = 'good' | 'refused' | 'fault';

const WINDOW_S = 30;
const FEWEST = 20;
/** Faults come from the carrier. Refusals may come from the messages: every carrier refuses a list of bad numbers. */
const FAULT_PART = 0.5;
const REFUSED_PART = 0.9;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;
const PROBES = 5;
const GOOD_PROBES = 4;
/**
 * For this long, only messages that are not urgent (lane 1 and below) are used as probes, then any, because there may
 * be no others. After this time new probes are taken if the earlier ones have not decided.
 */
const PATIENCE_MS = 30_000;

interface Second {
  readonly second: number;
  total: number;
  faults: number;
  refused: number;
}

/**
 * Notices that a carrier refuses nearly everything. Its messages then go to other carriers of their route.
 *
 * - `closed`: all is well. Becomes `open` when at least 20 answers came in 30 s, and half of them were faults or nine
 *   of ten were faults or refusals.
 * - `open`: the carrier gets only messages that no other carrier can take. Becomes `probing` after 30 s, which doubles
 *   with each opening, up to 10 min.
 * - `probing`: the carrier gets five messages. Becomes `closed` after four good answers, `open` after two others.
 */
export class Breaker {
  readonly #clock: Clock;
  #seconds: Second[] = [];
  #openUntilMs: number | undefined;
  #trippedUntil: Date | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #probes = { sinceMs: Number.NEGATIVE_INFINITY, taken: 0, good: 0, bad: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get state(): 'closed' | 'open' | 'probing' {
    if (this.#openUntilMs === undefined) return 'closed';
    return this.#clock.monotonicMs() < this.#openUntilMs ? 'open' : 'probing';
  }

  /** When it will be tried again. Undefined while closed. */
  get trippedUntil(): Date | undefined {
    return this.#trippedUntil;
  }

  /** How many messages may be claimed as probes now, and the most urgent lane that they may have. */
  get probes(): { readonly room: number; readonly fromLane: number } {
    if (this.state !== 'probing') return { room: 0, fromLane: 0 };
    const nowMs = this.#clock.monotonicMs();
    const idleMs = nowMs - (this.#openUntilMs ?? nowMs);
    // Probes without a useful answer (throttled, or never written) are repeated.
    if (nowMs - this.#probes.sinceMs >= PATIENCE_MS) this.#probes = { sinceMs: nowMs, taken: 0, good: 0, bad: 0 };
    return { room: PROBES - this.#probes.taken, fromLane: idleMs < PATIENCE_MS ? 1 : 0 };
  }

  claimedProbes(messages: number): void {
    this.#probes.taken += messages;
  }

  answered(answer: BreakerAnswer): void {
    const state = this.state;
    if (state === 'closed') this.#count(answer);
    else if (state === 'probing') this.#judge(answer);
  }

  #count(answer: BreakerAnswer): void {
    const second = Math.floor(this.#clock.monotonicMs() / 1_000);
    let last = this.#seconds.at(-1);
    if (last?.second !== second) {
      last = { second, total: 0, faults: 0, refused: 0 };
      this.#seconds = [...this.#seconds.filter((one) => one.second > second - WINDOW_S), last];
    }
    last.total += 1;
    if (answer === 'fault') last.faults += 1;
    if (answer === 'refused') last.refused += 1;
    if (answer === 'good') return;
    const sum = (of: (one: Second) => number): number => this.#seconds.reduce((all, one) => all + of(one), 0);
    const total = sum((one) => one.total);
    const faults = sum((one) => one.faults);
    const bad = faults + sum((one) => one.refused);
    if (total >= FEWEST && (faults >= total * FAULT_PART || bad >= total * REFUSED_PART)) this.trip(this.#pauseMs);
  }

  #judge(answer: BreakerAnswer): void {
    if (answer === 'good') this.#probes.good += 1;
    else this.#probes.bad += 1;
    if (this.#probes.good >= GOOD_PROBES) {
      this.#openUntilMs = undefined;
      this.#trippedUntil = undefined;
      this.#pauseMs = FIRST_PAUSE_MS;
    } else if (this.#probes.bad > PROBES - GOOD_PROBES) {
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
      this.trip(this.#pauseMs);
    }
  }

  /** Opens it for `pauseMs`. Also called where the carrier's settings ask for a pause after an answer. */
  trip(pauseMs: number): void {
    this.#seconds = [];
    const untilMs = this.#clock.monotonicMs() + pauseMs;
    if (untilMs > (this.#openUntilMs ?? Number.NEGATIVE_INFINITY)) {
      this.#openUntilMs = untilMs;
      this.#trippedUntil = new Date(this.#clock.now().getTime() + pauseMs);
    }
    this.#probes = { sinceMs: Number.NEGATIVE_INFINITY, taken: 0, good: 0, bad: 0 };
  }
}
