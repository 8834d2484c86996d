/**
 * The rate that a carrier allows, learned from what it takes and what it throttles (additive increase, multiplicative decrease around
 * a measured value). Pure; `CarrierRate` keeps the time and the tokens.
 */
export interface Learned {
  /** Segments a second; Infinity: never throttled. */
  readonly perSecond: number;
  /** When it was throttled last. */
  readonly atMs: number;
  /** What was taken before did not tell the limit: a first burst, or nothing but refusals. */
  readonly isGuess: boolean;
}

/** A little below what was taken in the second before the carrier throttled. */
const BELOW = 0.95;
/** When much less than the rate was taken, somebody else uses the limit too: what was taken does not tell it. */
const TOLD_FROM = 0.5;
const DECREASE = 0.7;
const STILL_REFUSED = 0.9;
/** Growth a second: fast from a guess, slow near a limit that was met just now, and faster when it has not shown for a while. */
const GUESS_GROWTH = 1;
const NEAR_GROWTH = 0.02;
const FAR_GROWTH = 0.1;
const NEAR_MS = 10_000;
/** The rate grows to so much more than what was taken. */
const GUESS_AHEAD = 2;
const AHEAD = 1.2;

/** The carrier throttled. `taken`: what it accepted in the second before. */
export function slowed({ perSecond }: Learned, taken: number, nowMs: number): Learned {
  const target = perSecond === Infinity || taken >= perSecond * TOLD_FROM ? taken * BELOW : perSecond * DECREASE;
  return { perSecond: Math.max(Math.min(target, perSecond * BELOW), 1), atMs: nowMs, isGuess: perSecond === Infinity };
}

/** Tokens that may gather at a learned rate: as much as it is below what the carrier took. */
export function learnedBurst(perSecond: number): number {
  return 1 + Math.floor(perSecond * (1 - BELOW));
}

/** So long later, without throttling, and with more to send than the rate let through. `taken`: in the last second. */
export function grown(learned: Learned, taken: number, seconds: number, nowMs: number): Learned {
  // A rate that is not reached tells nothing: a busy machine sends less than it may.
  if (learned.perSecond > (taken + 1) * (learned.isGuess ? GUESS_AHEAD : AHEAD)) return learned;
  const growth = learned.isGuess ? GUESS_GROWTH : nowMs - learned.atMs < NEAR_MS ? NEAR_GROWTH : FAR_GROWTH;
  return { ...learned, perSecond: learned.perSecond * (1 + growth * seconds) };
}

/** Even single segments are refused, for longer than a second. */
export function lowered({ perSecond }: Learned, nowMs: number): Learned {
  return { perSecond: Math.max(perSecond * STILL_REFUSED, 1), atMs: nowMs, isGuess: true };
}

const FIRST_PAUSE_MS = 100;
const PAUSE_GROWTH = 1.5;
const LONGEST_PAUSE_MS = 30_000;

/** The pause behind the n-th refusal in a row: half fixed, half random, so that several clients do not return in step. */
export function pauseMs(refusals: number, random: number): number {
  return Math.min(FIRST_PAUSE_MS * PAUSE_GROWTH ** refusals, LONGEST_PAUSE_MS) * (0.5 + random / 2);
}
