import { exactNow } from './now.ts';

const UNITS = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const JUST_NOW_MS = 45_000;
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'always' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
const medium = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const shortIn = (timeZone?: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', ...(timeZone && { timeZone }) });
const short = shortIn();

interface TimeProps {
  /** ISO 8601, as the API tells it. */
  readonly at: string | null | undefined;
  /** In words when there is none, as "never". */
  readonly none?: string;
  /** Date and time instead of "5 minutes ago"; with seconds where things follow each other quickly. */
  readonly full?: boolean | 'seconds';
  /** A time zone that is not the viewer's, with `full`. */
  readonly zone?: string;
}

/** "5 minutes ago", with the exact time and its zone as the title. */
export function Time({ at, none = '–', full = false, zone }: TimeProps) {
  if (at === null || at === undefined) return <span class="soft">{none}</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)}>
      {full === 'seconds'
        ? medium.format(date)
        : full
          ? (zone === undefined ? short : shortIn(zone)).format(date)
          : ago(date.getTime() - exactNow())}
    </time>
  );
}

/** For whatever has no element, as the labels of an axis. */
export function exactTime(at: string): string {
  return exact.format(new Date(at));
}

/** "22 Nov 2026, 18:30", for a time within words. */
export function shortTime(at: string): string {
  return short.format(new Date(at));
}

/** "22 Nov 2026": the day of UTC that begins then. In local time it would be another one west of Greenwich. */
export function utcDay(at: string): string {
  return day.format(new Date(at));
}

function ago(ms: number): string {
  if (Math.abs(ms) < JUST_NOW_MS) return ms > 0 ? 'in a moment' : 'just now';
  const [unit, size] = UNITS.find(([, length]) => Math.abs(ms) >= length) ?? ['minute', 60_000];
  return relative.format(Math.round(ms / size) || Math.sign(ms), unit);
}
