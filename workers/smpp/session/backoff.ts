import { STATUS } from '../../../shared/carriers/command-status.ts';

/** How a connection to a carrier ended, as far as the pause before the next connection depends on it. */
export type BindEnd =
  /** The session was never bound: the carrier was unreachable, did not answer, or closed the connection first. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'worked'; readonly boundMs: number };

/** Counts how the last connections of a bind ended. A bind that has not connected yet has `FRESH`. */
export interface Streak {
  /** Connections in a row that did not work, without a limit: it also chooses the next host (bind-request.ts). */
  readonly failed: number;
  /** Connections in a row that worked, each for less than `QUICK_MS`. */
  readonly quick: number;
}
export const FRESH: Streak = { failed: 0, quick: 0 };

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** If a bind worked and was lost before this time, the next one will probably be lost soon too. */
export const QUICK_MS = 10_000;
const LONGEST_WORKED_MS = 5_000;
/** Extra wait after a refusal that only a person can correct. */
const PERSON_MS = 60_000;
/** Extra wait after "already bound": the carrier has not yet noticed that our earlier session ended. */
const STILL_BOUND_MS = 30_000;
const SHORTEST_MS = 50;
const MAX_COUNT = 16;

const PERSON_STATUSES: ReadonlySet<number> = new Set([
  STATUS.bindFailed,
  STATUS.invalidPassword,
  STATUS.invalidSystemId,
]);

/**
 * How long to wait before connecting again, and the new streak. Pure.
 *
 * While no bind works, the limit of the wait doubles up to one minute. After a bind that worked it is one second, or up
 * to five if binds are lost quickly again and again. The wait is a random part of its limit (`random`, from 0 to 1:
 * full jitter), so that not all clients connect at once when a carrier comes back. After a refusal that only a person
 * can correct it is one minute longer, because carriers lock accounts that repeat a wrong password. A host that cannot
 * bind says nothing of the others: of several `hosts`, each is tried before that minute.
 */
export function pauseAfter(
  end: BindEnd,
  streak: Streak,
  random: number,
  hosts = 1,
): { readonly waitMs: number; readonly streak: Streak } {
  if (end.kind === 'worked') {
    const quick = end.boundMs < QUICK_MS ? Math.min(streak.quick + 1, MAX_COUNT) : 0;
    const ceilingMs = Math.min(FIRST_MS * 2 ** Math.max(quick - 1, 0), LONGEST_WORKED_MS);
    return { waitMs: jittered(ceilingMs, random), streak: { failed: 0, quick } };
  }
  const ceilingMs = Math.min(FIRST_MS * 2 ** streak.failed, LONGEST_MS);
  const failed = streak.failed + 1;
  const goesOn = end.kind === 'refused' && end.status === STATUS.bindFailed && failed % hosts !== 0;
  const extraMs = end.kind === 'refused' && !goesOn ? extraMsOf(end.status) : 0;
  return { waitMs: extraMs + jittered(ceilingMs, random), streak: { failed, quick: streak.quick } };
}

function jittered(ceilingMs: number, random: number): number {
  return Math.max(ceilingMs * random, SHORTEST_MS);
}

function extraMsOf(status: number): number {
  if (PERSON_STATUSES.has(status)) return PERSON_MS;
  return status === STATUS.alreadyBound ? STILL_BOUND_MS : 0;
}
