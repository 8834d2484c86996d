import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { burstOf, refillOf } from '../../../shared/platform/runtime/token-bucket.ts';
import { grown, type Learned, learnedBurst, lowered, pauseMs, slowed } from './adaptive-rate.ts';
import { RecentCount } from './recent-count.ts';

export interface CarrierRateOptions {
  readonly clock: Clock;
  /** Segments a second. 0: we set no limit and send as fast as the carrier takes them. */
  readonly perSecond: number;
  /** Returns a number from 0 to 1. Tests replace it. */
  readonly random?: () => number;
}

/**
 * Several throttled answers may belong to one event: they answer segments that were sent before the carrier throttled. After this
 * time a throttled answer counts as a new event, because some answers never come.
 */
const ONE_EVENT_MS = 5_000;
/** A carrier that counts per second accepts submits again within this time. If it does not, the learned rate is too high. */
const WINDOW_MS = 1_100;
/** A probe that has no answer after this time is given up. */
const PROBE_MS = 2_000;
/** While a probe waits for its answer, `take` may be asked again after this time. The answer itself causes a new look at once. */
const PROBE_LOOK_MS = 20;

/**
 * Limits the rate of one carrier, for all its binds together. It is a token bucket. The rate is learned when the carrier
 * throttles.
 *
 * - `flowing`: tokens come at the learned rate. The rate grows slowly while all tokens are used.
 * - `probing`: segments that were sent at the learned rate were throttled too. One segment is sent at a time, with growing
 *   pauses, until the carrier accepts one.
 */
export class CarrierRate {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #limit: number;
  readonly #taken = new RecentCount();
  #learned: Learned = { perSecond: Infinity, atMs: -Infinity, isGuess: true };
  #tokens: number;
  #filledMs: number;
  #pausedUntilMs = 0;
  /** Whether tokens were missing since the last refill. */
  #wanted = false;
  /** How many probes in a row were refused. Undefined while flowing. */
  #refusals: number | undefined;
  #probeSentMs = -Infinity;
  #sent = 0;
  #answered = 0;
  /** How many segments had been sent when the carrier last throttled. */
  #sentAtEvent = 0;

  constructor({ clock, perSecond, random = Math.random }: CarrierRateOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#limit = perSecond > 0 ? perSecond : Infinity;
    this.#filledMs = clock.monotonicMs();
    this.#tokens = burstOf(this.#limit);
  }

  /** The current rate in segments a second. Infinity for no limit. */
  get perSecond(): number {
    return Math.min(this.#learned.perSecond, this.#limit);
  }

  /** How many segments may be written now. */
  available(): number {
    const nowMs = this.#fill();
    if (nowMs < this.#pausedUntilMs) return 0;
    if (this.#refusals !== undefined) return nowMs - this.#probeSentMs < PROBE_MS ? 0 : 1;
    return Math.floor(this.#tokens);
  }

  /** How many segments may be written within the next `ms`. */
  soon(ms: number): number {
    const now = this.available();
    const pausedMs = Math.max(this.#pausedUntilMs - this.#clock.monotonicMs(), 0);
    if (this.#refusals !== undefined) return pausedMs < ms ? Math.max(now, 1) : 0;
    return pausedMs >= ms ? 0 : now + Math.floor((this.#pace().refill * (ms - pausedMs)) / 1_000);
  }

  /** Takes one token. False when there is none now. */
  take(): boolean {
    if (this.available() < 1) {
      this.#wanted = true;
      return false;
    }
    if (this.#refusals === undefined) this.#tokens -= 1;
    else this.#probeSentMs = this.#clock.monotonicMs();
    this.#sent += 1;
    return true;
  }

  /** Time until the next token, at least 1 ms. */
  waitMs(): number {
    const nowMs = this.#fill();
    const waitMs = this.#pausedUntilMs - nowMs;
    if (this.#refusals !== undefined) return Math.ceil(Math.max(waitMs, PROBE_LOOK_MS));
    const fillMs = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.#pace().refill) * 1_000;
    return Math.ceil(Math.max(waitMs, fillMs, 1));
  }

  /** The carrier took a segment. */
  accepted(): void {
    const nowMs = this.#fill();
    this.#taken.add(nowMs);
    this.#answered += 1;
    if (this.#refusals === undefined || this.#isOldNews(nowMs)) return;
    this.#refusals = undefined;
    this.#probeSentMs = -Infinity;
    this.#tokens = 0;
    this.#pausedUntilMs = nowMs;
  }

  /** The carrier gave another answer, which says nothing about the rate, or none will come any more. */
  otherwise(): void {
    this.#answered += 1;
  }

  /** The carrier said that we are too fast. It may want a pause of at least `atLeastMs`. */
  throttled(atLeastMs = 0): void {
    const nowMs = this.#fill();
    this.#answered += 1;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + atLeastMs);
    if (this.#isOldNews(nowMs)) return;
    const sinceMs = nowMs - this.#learned.atMs;
    if (this.#refusals !== undefined) {
      this.#refusals += 1;
      this.#probeSentMs = -Infinity;
      if (sinceMs > WINDOW_MS) this.#learned = lowered({ ...this.#learned, perSecond: this.perSecond }, nowMs);
    } else {
      const isAgain = sinceMs < WINDOW_MS;
      const isFirst = this.#learned.perSecond === Infinity;
      // In the first second of sending, what the carrier took so far does not show what it takes in a second. It may also have
      // throttled only one recipient.
      if (isFirst && !isAgain && this.#taken.isPart(nowMs)) this.#learned = { ...this.#learned, atMs: nowMs };
      else if (isFirst || !isAgain) this.#learned = this.#slowed(nowMs);
      // The carrier throttled less than a second ago. So it throttles even at the rate that was learned then.
      if (isAgain) this.#refusals = 0;
      this.#sentAtEvent = this.#sent;
    }
    this.#tokens = 0;
    this.#pausedUntilMs = nowMs + Math.max(pauseMs(this.#refusals ?? 0, this.#random()), atLeastMs);
  }

  #slowed(nowMs: number): Learned {
    return slowed({ ...this.#learned, perSecond: this.perSecond }, this.#taken.at(nowMs), nowMs);
  }

  /** Whether an answer belongs to a segment that was sent before the carrier last throttled. */
  #isOldNews(nowMs: number): boolean {
    return this.#answered <= this.#sentAtEvent && nowMs - this.#learned.atMs < ONE_EVENT_MS;
  }

  #fill(): number {
    const nowMs = this.#clock.monotonicMs();
    const seconds = (nowMs - this.#filledMs) / 1_000;
    if (seconds <= 0) return nowMs;
    this.#filledMs = nowMs;
    if (this.#wanted && this.#refusals === undefined && nowMs >= this.#pausedUntilMs) {
      this.#learned = grown(this.#learned, this.#taken.at(nowMs), seconds, nowMs);
    }
    this.#wanted = this.#tokens < 1;
    const { burst, refill } = this.#pace();
    const isPaused = nowMs < this.#pausedUntilMs || this.#refusals !== undefined;
    if (burst === Infinity) this.#tokens = Infinity;
    else if (!isPaused) this.#tokens = Math.min(this.#tokens + seconds * refill, burst);
    return nowMs;
  }

  /**
   * How many tokens may be saved up, and how fast they come. Our own limit holds in every second. A learned rate is below the
   * carrier's own by the size of a burst.
   */
  #pace(): { readonly burst: number; readonly refill: number } {
    const { perSecond } = this.#learned;
    if (perSecond < this.#limit) return { burst: learnedBurst(perSecond), refill: perSecond };
    return { burst: burstOf(this.#limit), refill: refillOf(this.#limit) };
  }
}
