import { STATUS } from '../../../shared/carriers/command-status.ts';

/** How a connection to a carrier ended, in the one respect that counts for the next one. */
export type BindEnd =
  /** Not bound: unreachable, no answer, or closed before it. */
  | { readonly kind: 'failed' }
  /** The carrier refused the bind. */
  | { readonly kind: 'refused'; readonly status: number }
  /** The carrier answered the bind with success. */
  | { readonly kind: 'worked'; readonly boundMs: number };

/** How the last connections of a bind ended; `FRESH` is the beginning. */
export interface Streak {
  /** Connections in a row that did not work. */
  readonly failed: number;
  /** Connections in a row that worked, each for less than `QUICK_MS`. */
  readonly quick: number;
}
export const FRESH: Streak = { failed: 0, quick: 0 };

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** A bind that worked and was lost all the same sooner than this is lost again soon. */
const QUICK_MS = 10_000;
const LONGEST_WORKED_MS = 5_000;
const SLOW_MS = 60_000;
/** An earlier session of ours is still up at the carrier. */
const STILL_BOUND_MS = 30_000;
const SHORTEST_MS = 50;
const MAX_COUNT = 16;

const SLOW_STATUSES: ReadonlySet<number> = new Set([STATUS.bindFailed, STATUS.invalidPassword, STATUS.invalidSystemId]);

/**
 * How long to wait before connecting again, and the streak as it is then. Full jitter (`random` from 0 to 1): a carrier that comes
 * back is not met by all its clients at once. The wait doubles while no bind works, to a minute; behind one that worked it is at
 * most a second, and a few while binds that work are lost quickly again and again. Refusals that only a person can
 * correct wait a minute longer: carriers lock accounts that try a wrong password again and again. Pure.
 */
export function pauseAfter(
  end: BindEnd,
  streak: Streak,
  random: number,
): { readonly waitMs: number; readonly streak: Streak } {
  if (end.kind === 'worked') {
    const quick = end.boundMs < QUICK_MS ? Math.min(streak.quick + 1, MAX_COUNT) : 0;
    const ceilingMs = Math.min(FIRST_MS * 2 ** Math.max(quick - 1, 0), LONGEST_WORKED_MS);
    return { waitMs: jittered(ceilingMs, random), streak: { failed: 0, quick } };
  }
  const ceilingMs = Math.min(FIRST_MS * 2 ** streak.failed, LONGEST_MS);
  const extraMs = end.kind === 'refused' ? extraMsOf(end.status) : 0;
  return {
    waitMs: extraMs + jittered(ceilingMs, random),
    streak: { failed: Math.min(streak.failed + 1, MAX_COUNT), quick: streak.quick },
  };
}

function jittered(ceilingMs: number, random: number): number {
  return Math.max(ceilingMs * random, SHORTEST_MS);
}

function extraMsOf(status: number): number {
  if (SLOW_STATUSES.has(status)) return SLOW_MS;
  return status === STATUS.alreadyBound ? STILL_BOUND_MS : 0;
}
