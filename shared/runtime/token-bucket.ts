import type { Clock } from './clock.ts';

/**
 * A token bucket: how many segments a second a carrier gets over all its binds, or how many messages an account's chat-app provider
 * gets. It is so small that no second, wherever it begins, sees more than the limit, because carriers that count by the second
 * punish bursts (a limit of 2,000/s collapsed to 121/s under bursts of 200). When the other side throttles all the same, the rate
 * falls by a fifth, pauses for a moment and climbs back (additive increase, multiplicative decrease).
 */
export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Segments a second; 0: no limit of ours until the carrier throttles. */
  readonly perSecond: number;
  /** From 0 to 1; a test turns it. */
  readonly random?: () => number;
}

const DECREASE = 0.8;
/** Part of the limit that comes back each second. */
const INCREASE_PER_SECOND = 0.05;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** Answers to submits that were under way together are one event, not many. */
const ONE_EVENT_MS = 500;
/** Unlimited again when the rate has climbed to this many times the one that was throttled. */
const FORGET_FACTOR = 2;

export class TokenBucket {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #random: () => number;
  /** Now, in segments a second; Infinity: no limit. */
  #rate: number;
  /** The rate at the last throttling. */
  #peak = 0;
  #tokens: number;
  #filledMs: number;
  #pausedUntilMs = 0;
  /** The part of the pause that is our own answer. */
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

  /** Segments that may be written now. */
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

  /** Takes one token; false: not now. */
  take(): boolean {
    if (this.available() < 1) return false;
    this.#tokens -= 1;
    this.#count();
    return true;
  }

  /** Until a token can be there, at least 1 ms. */
  waitMs(): number {
    this.#fill();
    const pauseMs = this.#pausedUntilMs - this.#clock.monotonicMs();
    const fillMs = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / refillOf(this.#rate)) * 1_000;
    return Math.ceil(Math.max(pauseMs, fillMs, 1));
  }

  /** The carrier took a segment: pauses begin small again. */
  accepted(): void {
    if (this.#clock.monotonicMs() >= this.#pausedUntilMs) this.#pauses = 0;
  }

  /** The other side said that we are too fast, and perhaps for how long at least it wants nothing (in milliseconds). */
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
    // Half fixed, half random: several processes at one carrier do not come back in step.
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

  /** How many were sent lately, to have a rate to fall from where there was no limit. */
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

/** Bucket size: one token, and 20 ms worth for fast carriers, because timers are no better than that under load. */
function burstOf(rate: number): number {
  return Number.isFinite(rate) ? 1 + Math.floor(rate / 50) : Number.POSITIVE_INFINITY;
}

/** Less than the rate by what a burst may add, so that burst and refill together stay within the limit in any second. */
function refillOf(rate: number): number {
  return Number.isFinite(rate) ? rate - Math.floor(rate / 50) : Number.POSITIVE_INFINITY;
}
