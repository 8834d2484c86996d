import { parseOffsetTime } from '../http/offset-time.ts';

/** A `schedule_time` that can be booked. */
export interface ScheduleTime {
  readonly at: Date;
  /** The same instant in the caller's offset, in the specification's shape: `2026-11-21T10:00:00+05:30`. */
  readonly scheduledFor: string;
}

/** How far ahead a message may be booked (decisions.md, Schedules). */
export const AHEAD_DAYS_MAX = 35;
const DAY_MS = 24 * 3_600_000;

/** Why a time cannot be booked. */
export type ScheduleTimeProblem = 'not_a_time' | 'not_later' | 'too_far';

/**
 * Reads a `schedule_time`: ISO 8601 with an offset (`Z` counts as one), later than now, at most 35 days ahead. The offset
 * says which instant is meant, so changes to and from summer time need no rule. Pure.
 */
export function readScheduleTime(text: string, now: Date): ScheduleTime | ScheduleTimeProblem {
  const time = parseOffsetTime(text);
  if (time === undefined) return 'not_a_time';
  const aheadMs = time.at.getTime() - now.getTime();
  if (aheadMs <= 0) return 'not_later';
  if (aheadMs > AHEAD_DAYS_MAX * DAY_MS) return 'too_far';
  return { at: time.at, scheduledFor: inOffset(time.at, time.offsetMinutes) };
}

/** Milliseconds are shown only where there are any: the shape of the specification has none. */
function inOffset(at: Date, offsetMinutes: number): string {
  const local = new Date(at.getTime() + offsetMinutes * 60_000).toISOString();
  const fraction = at.getUTCMilliseconds() === 0 ? '' : local.slice(19, 23);
  const sign = offsetMinutes < 0 ? '-' : '+';
  const minutes = Math.abs(offsetMinutes);
  return `${local.slice(0, 19)}${fraction}${sign}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
