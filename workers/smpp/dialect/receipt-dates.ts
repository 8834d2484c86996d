/**
 * Dates in receipts: `YYMMDDhhmm`, `YYMMDDhhmmss`, `yyyyMMddHHmm`, `yyyyMMddHHmmss`, SMPP's own absolute form with its offset
 * (`YYMMDDhhmmsstnnp`, SMPP 3.4 §7.1.1.1), Unix seconds or milliseconds, ISO 8601. What names no zone is in the carrier's.
 *
 * Ten digits may be two dates: Unix seconds of January to June 2027 are also minutes of 2018. The one nearest to `near` is meant,
 * the time at which the receipt came. Unix times count only within a year of it: `2613211004` is no date, and no second of 2052.
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
/** `20` in front: years of four digits. */
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

/** Empty when there is no such day or time. */
function dateOf(fields: readonly (string | number | undefined)[], offsetMinutes: number): Date[] {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields.map((field) => Number(field ?? 0));
  const days = new Date(Date.UTC(year, month - 1, day));
  if (days.getUTCMonth() !== month - 1 || days.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59)
    return [];
  return [new Date(Date.UTC(year, month - 1, day, hour, minute, second) - offsetMinutes * 60_000)];
}
