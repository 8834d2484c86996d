import { HOUR_MS, type HourName, hourName, hourStart } from '../../../shared/messages/statistics-hour.ts';

/** When an hour was counted last, and how long that took. */
export interface LastCount {
  readonly countedAt: Date;
  readonly tookMs: number;
}

const MINUTE_MS = 60_000;
/**
 * The running hour is counted this often. With many messages it takes long, and is counted more rarely: one part in two thousand
 * of the time is spent on it. Reading and counting a message takes store and process 13 µs of CPU together.
 */
const RUNNING_MS = 15_000;
const REST = 2_000;
/**
 * Times after the end of an hour at which it is counted again, because receipts come late, and messages of a batch, whose ids have
 * its time: within minutes mostly, within 72 hours
 * after the validity at the latest. That is 48 hours unless set (6 days), and 7 days at most (11 days).
 */
const AFTER_MS = [3, 3 * 60, 24 * 60, 6 * 24 * 60, 11 * 24 * 60].map((minutes) => minutes * MINUTE_MS);

/** The hours to count now, the newest first. `since`: messages of earlier hours may have been removed already. */
export function dueHours(counted: ReadonlyMap<HourName, LastCount>, since: Date, now: Date): HourName[] {
  const hours: HourName[] = [];
  const running = hourStart(hourName(now)).getTime();
  for (let startMs = running; startMs >= since.getTime(); startMs -= HOUR_MS) {
    const name = hourName(new Date(startMs));
    if (isDue(startMs, counted.get(name), now.getTime())) hours.push(name);
  }
  return hours;
}

function isDue(startMs: number, last: LastCount | undefined, nowMs: number): boolean {
  if (last === undefined) return true;
  const countedMs = last.countedAt.getTime();
  const endMs = startMs + HOUR_MS;
  if (nowMs < endMs) return nowMs >= countedMs + Math.max(RUNNING_MS, REST * last.tookMs);
  const next = AFTER_MS.find((afterMs) => endMs + afterMs > countedMs);
  return next !== undefined && nowMs >= endMs + next;
}
