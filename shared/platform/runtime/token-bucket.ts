import type { Clock } from './clock.ts';

/**
 * Limits the segments a second of a carrier over all its binds, or the messages a second of an account's chat-app
 * provider. The bucket is small, so that no second, wherever it begins, exceeds the limit: carriers that count by the
 * second punish bursts. If the other side throttles nevertheless, sending pauses for a moment, the rate falls by a
 * fifth, and climbs back (additive increase, multiplicative decrease).
 */
interface TokenBucketOptions {
  readonly clock: Clock;
  /** Segments a second. 0: no limit until the carrier throttles. */
  readonly perSecond: number;
  /** From 0 to 1. Tests replace it. */
  readonly random?: () => number;
}

const DECREASE = 0.8;
/** Fraction of the limit that is regained each second. */
const INCREASE_PER_SECOND = 0.05;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** Throttled answers within this time count as one event: their submits were in flight together. */
const ONE_EVENT_MS = 500;
/** The rate is unlimited again when it has risen to this multiple of the throttled rate. */
const FORGET_FACTOR = 2;

export class TokenBucket {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #random: () => number;
  /** Segments a second. Infinity: no limit. */
  #rate: number;
  #peak = 0;
  #tokens: number;
  #filledMs: number;
  #pausedUntilMs = 0;
  #throttledUntilMs = 0;
  #pauses = 0;
  #lastEventMs = Number.NEGATIVE_INFINITY;
  #second = 0;
  #inSecond = 0;
  #lastSecond = 0;

  constructor(options: TokenBucketOptions) {
    this.#clock = options.clock;
    this.#random = options.random ?? Math.random;
    this.#limit = options.perSecond > 0 ? options.perSecond : Number.POSITIVE_INFINITY;
    this.#rate = this.#limit;
    this.#filledMs = this.#clock.monotonicMs();
    this.#tokens = burstOf(this.#rate);
  }

  available(): number {
    this.#fill();
    return this.#clock.monotonicMs() < this.#pausedUntilMs ? 0 : Math.floor(this.#tokens);
  }

  /** Segments that may be written within the next `ms`. */
  soon(ms: number): number {
    const now = this.available();
    const pausedMs = Math.max(this.#pausedUntilMs - this.#clock.monotonicMs(), 0);
    return pausedMs >= ms ? 0 : now + Math.floor((refillOf(this.#rate) * (ms - pausedMs)) / 1_000);
  }

  take(): boolean {
    if (this.available() < 1) return false;
    this.#tokens -= 1;
    this.#count();
    return true;
  }

  /** Time until the next token, at least 1 ms. */
  waitMs(): number {
    this.#fill();
    const pauseMs = this.#pausedUntilMs - this.#clock.monotonicMs();
    const fillMs = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / refillOf(this.#rate)) * 1_000;
    return Math.ceil(Math.max(pauseMs, fillMs, 1));
  }

  /** The carrier took a segment, so the next pause is short again. */
  accepted(): void {
    if (this.#clock.monotonicMs() >= this.#pausedUntilMs) this.#pauses = 0;
  }

  /** The other side said that we are too fast, perhaps with a minimum pause. */
  throttled(atLeastMs = 0): void {
    const nowMs = this.#clock.monotonicMs();
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + atLeastMs);
    if (nowMs < this.#throttledUntilMs || nowMs - this.#lastEventMs < ONE_EVENT_MS) return;
    this.#lastEventMs = nowMs;
    const busy = Math.max(this.#inSecond, this.#lastSecond, 1);
    this.#peak = Number.isFinite(this.#rate) ? this.#rate : busy;
    this.#rate = Math.max(this.#peak * DECREASE, 1);
    this.#tokens = 0;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#pauses, LONGEST_PAUSE_MS);
    this.#pauses += 1;
    // Half fixed, half random, so that several processes at one carrier do not return in step.
    this.#throttledUntilMs = nowMs + pauseMs * (0.5 + this.#random() / 2);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#throttledUntilMs);
  }

  #fill(): void {
    const nowMs = this.#clock.monotonicMs();
    const seconds = (nowMs - this.#filledMs) / 1_000;
    if (seconds <= 0) return;
    this.#filledMs = nowMs;
    if (this.#rate < this.#limit) this.#recover(seconds);
    this.#tokens = Number.isFinite(this.#rate)
      ? Math.min(this.#tokens + seconds * refillOf(this.#rate), burstOf(this.#rate))
      : Number.POSITIVE_INFINITY;
  }

  #recover(seconds: number): void {
    const step = Math.max(this.#peak * INCREASE_PER_SECOND, 0.2) * seconds;
    const rate = this.#rate + step;
    const forgotten = !Number.isFinite(this.#limit) && rate >= this.#peak * FORGET_FACTOR;
    this.#rate = forgotten ? this.#limit : Math.min(rate, this.#limit);
  }

  /** Counts what was sent recently. Without a limit, this is the rate from which to fall. */
  #count(): void {
    const second = Math.floor(this.#clock.monotonicMs() / 1_000);
    if (second !== this.#second) {
      this.#lastSecond = second === this.#second + 1 ? this.#inSecond : 0;
      this.#second = second;
      this.#inSecond = 0;
    }
    this.#inSecond += 1;
  }
}

/** One token, plus 20 ms worth for fast carriers, because timers under load are no more precise than that. */
export function burstOf(rate: number): number {
  return Number.isFinite(rate) ? 1 + Math.floor(rate / 50) : Number.POSITIVE_INFINITY;
}

/** The rate minus a possible burst, so that burst and refill together stay within the limit in any second. */
export function refillOf(rate: number): number {
  return Number.isFinite(rate) ? rate - Math.floor(rate / 50) : Number.POSITIVE_INFINITY;
}
