import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { burstOf, refillOf } from '../../../shared/platform/runtime/token-bucket.ts';

interface CarrierRateOptions {
  readonly clock: Clock;
  /** Segments a second. 0: we set no limit and send as fast as the carrier takes them. */
  readonly perSecond: number;
  readonly random?: () => number;
}

/** Throttled answers to segments sent before the event belong to it; for this long, as some answers never come. */
const ONE_EVENT_MS = 5_000;
/** A carrier that counts per second accepts submits again within this time. If not, the learned rate is too high. */
const WINDOW_MS = 1_100;
const PROBE_MS = 2_000;
/** How soon `take` may be asked again while a probe waits for its answer. The answer itself causes a look at once. */
const PROBE_LOOK_MS = 20;

/**
 * Limits the rate of one carrier, for all its binds together: a token bucket whose rate is learned when the carrier
 * throttles.
 *
 * - `flowing`: tokens come at the learned rate, which grows slowly while all tokens are used.
 * - `probing`: segments sent at the learned rate were throttled too. One segment is sent at a time, with growing
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

  /** In segments a second. Infinity for no limit. */
  get perSecond(): number {
    return Math.min(this.#learned.perSecond, this.#limit);
  }

  available(): number {
    const nowMs = this.#fill();
    if (nowMs < this.#pausedUntilMs) return 0;
    if (this.#refusals !== undefined) return nowMs - this.#probeSentMs < PROBE_MS ? 0 : 1;
    return Math.floor(this.#tokens);
  }

  soon(ms: number): number {
    const now = this.available();
    const pausedMs = Math.max(this.#pausedUntilMs - this.#clock.monotonicMs(), 0);
    if (this.#refusals !== undefined) return pausedMs < ms ? Math.max(now, 1) : 0;
    return pausedMs >= ms ? 0 : now + Math.floor((this.#pace().refill * (ms - pausedMs)) / 1_000);
  }

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
      // In the first second of sending, what the carrier took so far does not show what it takes in a second. It may
      // also have throttled only one recipient.
      if (isFirst && !isAgain && this.#taken.isPart(nowMs)) this.#learned = { ...this.#learned, atMs: nowMs };
      else if (isFirst || !isAgain) this.#learned = this.#slowed(nowMs);
      // The carrier throttled less than a second ago, so it throttles even at the rate learned then.
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

  /** Our own limit holds in every second. A learned rate is below the carrier's own by the size of a burst. */
  #pace(): { readonly burst: number; readonly refill: number } {
    const { perSecond } = this.#learned;
    if (perSecond < this.#limit) return { burst: learnedBurst(perSecond), refill: perSecond };
    return { burst: burstOf(this.#limit), refill: refillOf(this.#limit) };
  }
}

/** Additive increase, multiplicative decrease around a measured value. Pure: `CarrierRate` keeps time and tokens. */
interface Learned {
  /** Segments a second. Infinity until the carrier has throttled. */
  readonly perSecond: number;
  readonly atMs: number;
  /** The limit could not be measured: the carrier throttled a first burst, or it refused everything. */
  readonly isGuess: boolean;
}

/** The learned rate is this part of what the carrier took in the second before it throttled. */
const BELOW = 0.95;
/** A carrier that took less than this part of the rate does not show its limit: someone else uses it too. */
const SHOWS_LIMIT = 0.5;
/** The rate is multiplied by this when it was throttled and the limit could not be measured. */
const DECREASE = 0.7;
/** The rate is multiplied by this when even single segments are still refused. */
const STILL_REFUSED = 0.9;
/**
 * How much the rate grows in a second: fast after a guess, slowly near a limit that was met a moment ago, faster when
 * the limit has not shown for `NEAR_MS`, and as after a guess when it has not shown for `OLD_MS`: the carrier may have
 * throttled only one recipient, or in an hour with little to send.
 */
const GUESS_GROWTH = 1;
const NEAR_GROWTH = 0.02;
const FAR_GROWTH = 0.1;
const NEAR_MS = 10_000;
const OLD_MS = 60_000;
/** The rate grows to at most this multiple of what the carrier took. */
const GUESS_AHEAD = 2;
const AHEAD = 1.2;

/** The rate after the carrier throttled. `taken`: segments that it accepted in the second before. */
function slowed({ perSecond }: Learned, taken: number, nowMs: number): Learned {
  const target = perSecond === Infinity || taken >= perSecond * SHOWS_LIMIT ? taken * BELOW : perSecond * DECREASE;
  return { perSecond: Math.max(Math.min(target, perSecond * BELOW), 1), atMs: nowMs, isGuess: perSecond === Infinity };
}

/** Tokens that may be saved up at a learned rate: the difference between that rate and what the carrier took. */
function learnedBurst(perSecond: number): number {
  return 1 + Math.floor(perSecond * (1 - BELOW));
}

/** `taken`: segments accepted in the last second, while there was more to send than the rate allowed. */
function grown(learned: Learned, taken: number, seconds: number, nowMs: number): Learned {
  const isGuess = learned.isGuess || nowMs - learned.atMs >= OLD_MS;
  // If we did not reach the rate, nothing is known about the limit: a busy machine sends less than it may.
  if (learned.perSecond > (taken + 1) * (isGuess ? GUESS_AHEAD : AHEAD)) return learned;
  const growth = isGuess ? GUESS_GROWTH : nowMs - learned.atMs < NEAR_MS ? NEAR_GROWTH : FAR_GROWTH;
  return { ...learned, perSecond: learned.perSecond * (1 + growth * seconds) };
}

/** The rate after the carrier has refused even single segments for longer than a second. */
function lowered({ perSecond }: Learned, nowMs: number): Learned {
  return { perSecond: Math.max(perSecond * STILL_REFUSED, 1), atMs: nowMs, isGuess: true };
}

const FIRST_PAUSE_MS = 100;
const PAUSE_GROWTH = 1.5;
const LONGEST_PAUSE_MS = 30_000;

/** After the n-th refusal in a row. Half fixed, half random: several clients do not come back at the same moment. */
function pauseMs(refusals: number, random: number): number {
  return Math.min(FIRST_PAUSE_MS * PAUSE_GROWTH ** refusals, LONGEST_PAUSE_MS) * (0.5 + random / 2);
}

const SLOT_MS = 100;
const SLOTS = 10;

/** Counts events of the last second, in steps of a tenth of a second. */
export class RecentCount {
  readonly #slots = new Array<number>(SLOTS).fill(0);
  #current = 0;
  /** When events began, after a second or more without. */
  #sinceMs = -Infinity;

  add(nowMs: number): void {
    if (this.at(nowMs) === 0) this.#sinceMs = nowMs;
    const slot = this.#current % SLOTS;
    this.#slots[slot] = (this.#slots[slot] ?? 0) + 1;
  }

  at(nowMs: number): number {
    this.#turn(nowMs);
    return this.#slots.reduce((sum, count) => sum + count, 0);
  }

  isPart(nowMs: number): boolean {
    return nowMs - this.#sinceMs < SLOTS * SLOT_MS;
  }

  #turn(nowMs: number): void {
    const now = Math.floor(nowMs / SLOT_MS);
    for (let slot = Math.max(this.#current + 1, now - SLOTS + 1); slot <= now; slot++) this.#slots[slot % SLOTS] = 0;
    this.#current = Math.max(now, this.#current);
  }
}
