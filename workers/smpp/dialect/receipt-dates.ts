/**
 * Reads dates in receipts: `YYMMDDhhmm`, `YYMMDDhhmmss`, `yyyyMMddHHmm`, `yyyyMMddHHmmss`, SMPP's absolute form with its offset
 * (`YYMMDDhhmmsstnnp`, SMPP 3.4 §7.1.1.1), Unix seconds or milliseconds, ISO 8601. A date without a zone is in the carrier's
 * zone.
 *
 * Ten digits may mean two dates: Unix seconds of January to June 2027 are also minutes of 2018. The date nearest to `near` is
 * taken, the time at which the receipt came. Unix times more than a year from `near` are ignored: `2613211004` is no date, and
 * not a second of 2052.
 */
export function receiptDate(text: string, offsetMinutes: number, near: Date): Date | undefined {
  const readings = [
    ...digitReadings(text, offsetMinutes),
    ...unixReadings(text, near),
    ...isoReadings(text, offsetMinutes),
  ];
  const distance = (date: Date): number => Math.abs(date.getTime() - near.getTime());
  return readings.sort((a, b) => distance(a) - distance(b))[0];
}

const YEAR_MS = 366 * 24 * 3_600_000;
/** `20` at the beginning means that the year has four digits. */
const DIGITS = /^(20)?(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?(?:\d(\d{2})([+-])|(Z)|([+-])(\d{2}):?(\d{2}))?$/;
const SHORT_DIGITS = new RegExp(DIGITS.source.replace('(20)?', '()?'));
const ISO =
  /^(\d{4})-?(\d{2})-?(\d{2})[T ](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d{1,9})?)?\s?(?:(Z)|([+-])(\d{2}):?(\d{2})?)?$/i;

function digitReadings(text: string, offsetMinutes: number): Date[] {
  return [DIGITS, SHORT_DIGITS].flatMap((form) => {
    const match = form.exec(text);
    if (match === null) return [];
    const [, , year, month, day, hour, minute, second, quarters, side, utc, sign, hours, minutes] = match;
    const own = side === undefined ? undefined : signed(side, Number(quarters) * 15);
    const offset = own ?? zone(utc, sign, hours, minutes) ?? offsetMinutes;
    return dateOf([2000 + Number(year), month, day, hour, minute, second], offset);
  });
}

function isoReadings(text: string, offsetMinutes: number): Date[] {
  const match = ISO.exec(text);
  if (match === null) return [];
  const [, year, month, day, hour, minute, second, utc, sign, hours, minutes] = match;
  return dateOf([year, month, day, hour, minute, second], zone(utc, sign, hours, minutes) ?? offsetMinutes);
}

function unixReadings(text: string, near: Date): Date[] {
  if (!/^(\d{10}|\d{13})$/.test(text)) return [];
  const date = new Date(text.length === 10 ? Number(text) * 1000 : Number(text));
  return Math.abs(date.getTime() - near.getTime()) < YEAR_MS ? [date] : [];
}

function zone(utc?: string, sign?: string, hours?: string, minutes?: string): number | undefined {
  if (utc !== undefined) return 0;
  return sign === undefined ? undefined : signed(sign, Number(hours) * 60 + Number(minutes ?? 0));
}

function signed(sign: string, minutes: number): number {
  return sign === '+' ? minutes : -minutes;
}

/** The date in a list of at most one. The list is empty when there is no such day or time. */
function dateOf(fields: readonly (string | number | undefined)[], offsetMinutes: number): Date[] {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields.map((field) => Number(field ?? 0));
  const days = new Date(Date.UTC(year, month - 1, day));
  if (days.getUTCMonth() !== month - 1 || days.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    return [];
  return [new Date(Date.UTC(year, month - 1, day, hour, minute, second) - offsetMinutes * 60_000)];
}
