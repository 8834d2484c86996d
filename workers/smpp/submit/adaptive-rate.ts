/**
 * The rate that a carrier allows. It is learned from what the carrier takes and what it throttles: additive increase and
 * multiplicative decrease around a measured value. Pure: `CarrierRate` keeps the time and the tokens.
 */
export interface Learned {
  /** Segments a second. Infinity until the carrier has throttled. */
  readonly perSecond: number;
  /** When the carrier throttled last. */
  readonly atMs: number;
  /**
   * True while the rate is only a guess: the carrier throttled a first burst, or it refused everything, so the limit could not be
   * measured.
   */
  readonly isGuess: boolean;
}

/** The learned rate is this part of what the carrier took in the second before it throttled. */
const BELOW = 0.95;
/**
 * If the carrier took less than this part of the rate, someone else uses the same limit. Then what it took does not show the
 * limit.
 */
const SHOWS_LIMIT = 0.5;
/** The rate is multiplied by this when it was throttled and the limit could not be measured. */
const DECREASE = 0.7;
/** The rate is multiplied by this when even single segments are still refused. */
const STILL_REFUSED = 0.9;
/**
 * How much the rate grows in a second. It grows fast after a guess, slowly near a limit that was met a moment ago, faster when the
 * limit has not shown for `NEAR_MS`, and as after a guess when it has not shown for `OLD_MS`: the carrier may have throttled
 * only one recipient, or in an hour with little to send.
 */
const GUESS_GROWTH = 1;
const NEAR_GROWTH = 0.02;
const FAR_GROWTH = 0.1;
const NEAR_MS = 10_000;
const OLD_MS = 60_000;
/** The rate grows to at most this multiple of what the carrier took. */
const GUESS_AHEAD = 2;
const AHEAD = 1.2;

/** The rate after the carrier throttled. `taken`: how many segments it accepted in the second before. */
export function slowed({ perSecond }: Learned, taken: number, nowMs: number): Learned {
  const target = perSecond === Infinity || taken >= perSecond * SHOWS_LIMIT ? taken * BELOW : perSecond * DECREASE;
  return { perSecond: Math.max(Math.min(target, perSecond * BELOW), 1), atMs: nowMs, isGuess: perSecond === Infinity };
}

/** How many tokens may be saved up at a learned rate. It is the difference between that rate and what the carrier took. */
export function learnedBurst(perSecond: number): number {
  return 1 + Math.floor(perSecond * (1 - BELOW));
}

/**
 * The rate after `seconds` without throttling, while there was more to send than the rate allowed. `taken`: segments that the
 * carrier accepted in the last second.
 */
export function grown(learned: Learned, taken: number, seconds: number, nowMs: number): Learned {
  const isGuess = learned.isGuess || nowMs - learned.atMs >= OLD_MS;
  // If we did not reach the rate, nothing is known about the limit: a busy machine sends less than it may.
  if (learned.perSecond > (taken + 1) * (isGuess ? GUESS_AHEAD : AHEAD)) return learned;
  const growth = isGuess ? GUESS_GROWTH : nowMs - learned.atMs < NEAR_MS ? NEAR_GROWTH : FAR_GROWTH;
  return { ...learned, perSecond: learned.perSecond * (1 + growth * seconds) };
}

/** The rate after the carrier has refused even single segments for longer than a second. */
export function lowered({ perSecond }: Learned, nowMs: number): Learned {
  return { perSecond: Math.max(perSecond * STILL_REFUSED, 1), atMs: nowMs, isGuess: true };
}

const FIRST_PAUSE_MS = 100;
const PAUSE_GROWTH = 1.5;
const LONGEST_PAUSE_MS = 30_000;

/**
 * The pause after the n-th refusal in a row. Half of it is fixed and half is random, so that several clients do not come back at
 * the same moment.
 */
export function pauseMs(refusals: number, random: number): number {
  return Math.min(FIRST_PAUSE_MS * PAUSE_GROWTH ** refusals, LONGEST_PAUSE_MS) * (0.5 + random / 2);
}
