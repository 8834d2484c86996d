/** The only reader of the real clock. Everything that needs the time takes a `Clock`, so that a test can turn it by hand. */
export interface Clock {
  /** Wall time, for what is stored or shown. */
  now(): Date;
  /** Milliseconds that never jump back, for durations and deadlines inside one process. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};

/**
 * ISO 8601 with a numeric offset and whole seconds, `2026-11-21T10:00:00+00:00`: the shape that the specification shows
 * for every timestamp ("Resources and their fields"). `Z` and fractions would be legal ISO but are not that shape.
 */
export function isoTimestamp(at: Date): string {
  return `${at.toISOString().slice(0, 19)}+00:00`;
}

/** The UTC calendar day, `2026-11-21`. */
export function isoDate(at: Date): string {
  return at.toISOString().slice(0, 10);
}
