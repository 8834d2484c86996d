/** Days of a time zone, as they are counted: traffic is counted by half hours, so each belongs to the day in which it begins. */

const HALF_MS = 30 * 60_000;
/** No zone is farther from UTC. */
const FARTHEST_MS = 15 * 60 * 60_000;

/** A day as `2026-11-21`. */
export type Day = string;

/** Tells the day of a moment. Formatting takes some microseconds, and a report asks for the same half hours again and again. */
export function daysOf(zone: string): (atMs: number) => Day {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const known = new Map<number, Day>();
  return (atMs) => {
    const half = Math.floor(atMs / HALF_MS);
    const day = known.get(half) ?? format.format(half * HALF_MS);
    known.set(half, day);
    return day;
  };
}

/** When a day begins: its first half hour. */
export function beginOf(day: Day, dayOf: (atMs: number) => Day): Date {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  for (let atMs = midnight - FARTHEST_MS; atMs <= midnight + FARTHEST_MS; atMs += HALF_MS) {
    if (dayOf(atMs) >= day) return new Date(atMs);
  }
  throw new Error(`the day ${day} does not begin`);
}

export function dayAfter(day: Day, days = 1): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 24 * 2 * HALF_MS).toISOString().slice(0, 10);
}
