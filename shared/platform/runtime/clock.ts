/** The only reader of the real clock, passed to everything that needs the time, so that tests can turn it. */
export interface Clock {
  /** Wall time, for what is stored or shown. */
  now(): Date;
  /** Never jumps back: for durations and deadlines inside one process. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};

/** `2026-11-21T10:00:00+00:00`, as in the specification ("Resources and their fields"); no `Z` or fractions. */
export function isoTimestamp(at: Date): string {
  return `${at.toISOString().slice(0, 19)}+00:00`;
}

/** UTC, `2026-11-21`. */
export function isoDate(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** As a caller wrote it. */
export interface OffsetTime {
  readonly at: Date;
  /** East of UTC. */
  readonly offsetMinutes: number;
}

const FORM = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d))$/;

/**
 * Parses an ISO 8601 date-time with a UTC offset, `2026-11-21T10:00:00+05:30` ("Resources and their fields"). `Z` is an
 * offset too. Fractions are cut to milliseconds. Undefined for any other text, and for days and hours that do not
 * exist.
 */
export function parseOffsetTime(text: string): OffsetTime | undefined {
  const [whole, date, hour, minute, second, fraction = '', sign, hours = '00', minutes = '00'] = FORM.exec(text) ?? [];
  if (whole === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const local = `${date}T${hour}:${minute}:${second}`;
  const asUtc = new Date(`${local}Z`);
  // JavaScript would turn the 30th of February into the 2nd of March, and 24:00 into the next day.
  if (Number.isNaN(asUtc.getTime()) || !asUtc.toISOString().startsWith(local)) return undefined;
  const offsetMinutes = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const ms = Math.trunc(Number(`0${fraction}`) * 1000);
  return { at: new Date(asUtc.getTime() + ms - offsetMinutes * 60_000), offsetMinutes };
}

/** `2027-12-31`, and exists. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && parseOffsetTime(`${text}T00:00:00Z`) !== undefined;
}

/** From a cell of a file: a time with an offset, or a day, which begins at 00:00 UTC. */
export function parseTimeOrDay(text: string): Date | undefined {
  return parseOffsetTime(isDay(text) ? `${text}T00:00:00Z` : text)?.at;
}

/** For error messages. `05-06-2026` is a day in May for some and in June for others. */
export const TIME_OR_DAY = 'a day like 2026-11-28, or a time with its offset like 2026-11-28T18:30:00+05:30';

/** Whether it is a time zone of the IANA. */
export function isZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined;
  } catch {
    return false; // a RangeError says that there is no such zone
  }
}
