import { isBlank } from '../../../../shared/platform/sheets/cell.ts';
import { looksLikeHead, parseSheet } from '../../../../shared/platform/sheets/parse.ts';

/** Pasted or read from a file. */
interface RecipientSheet {
  readonly rows: readonly (readonly string[])[];
  /** Column names, or numbers if the first row has none. */
  readonly heads: readonly string[];
  readonly hasHead: boolean;
  /** Why it cannot be sent. */
  readonly fault?: string;
}

/** The recipients of one request and a head; a template has at most 250 values. */
const LIMITS = { rows: 10_001, columns: 256, cell: 8_192 } as const;

export function sheetOf(text: string): RecipientSheet {
  const { rows: read, fault } = parseSheet(text, LIMITS);
  // Spreadsheets export empty columns at the end, which would become values of the template.
  const width = read.reduce(
    (widest, { cells }) => Math.max(widest, cells.findLastIndex((cell) => !isBlank(cell)) + 1),
    0,
  );
  const rows = read.map(({ cells }) => cells.slice(0, width).map((cell) => cell.trim()));
  const [first = []] = rows;
  const hasHead = rows.length > 0 && looksLikeHead(first);
  return {
    rows: hasHead ? rows.slice(1) : rows,
    heads: Array.from({ length: width }, (_, i) => (hasHead && first[i]) || `Column ${i + 1}`),
    hasHead,
    ...(fault === undefined ? {} : { fault }),
  };
}

/** One template value on each line, exactly as written. An empty line is an empty value. */
export function templateValues(written: string): string[] {
  return written === '' ? [] : written.split('\n');
}

/** The default zone for schedules. For India it is IST, as for the DLT day and promotional hours. */
export function homeZone(country: string | null | undefined): string {
  return country === 'IN' ? 'Asia/Kolkata' : OWN_ZONE;
}

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The browser's own zone first. */
export const ZONES: readonly string[] = [
  ...new Set([OWN_ZONE, 'Asia/Kolkata', 'UTC', ...Intl.supportedValuesOf('timeZone')]),
];

/**
 * Local time `2026-11-22T10:00` in a zone as an instant with offset: `2026-11-22T10:00:00+05:30`. A time that clocks
 * skip in spring is moved forward by the gap (RFC 5545 3.3.5), so nothing is sent too early.
 */
export function instantIn(local: string, zone: string): string {
  const wall = Date.parse(`${local}Z`);
  if (Number.isNaN(wall)) return local; // the gateway reports it
  // The zone's offset at that wall time. Near a clock change the first guess can be on the wrong side.
  const first = offsetAt(wall, zone);
  const second = offsetAt(wall - first * 60_000, zone);
  const isSkipped = offsetAt(wall - second * 60_000, zone) !== second;
  const offset = isSkipped ? Math.min(first, second) : second;
  const sign = offset < 0 ? '-' : '+';
  const two = (value: number) => String(value).padStart(2, '0');
  return `${local.slice(0, 16)}:00${sign}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
}

/** The zone's offset from UTC in minutes. */
function offsetAt(instant: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' }).formatToParts(instant);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  if (sign === undefined) return 0; // `GMT`
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
