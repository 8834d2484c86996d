import type { MessageDocument } from '../../messages/document/message.ts';
import type { Daytime } from '../../messages/document/routing.ts';
import { countryOf } from './country.ts';

export type Held = Pick<MessageDocument, 'to' | 'lane' | 'inReplyTo'>;

/** One-time passwords (messages/document/routing.ts). */
const URGENT_LANE = 0;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Daytimes of several zones that have no common opening in so many days never have one. */
const LOOK_DAYS = 3;
export const NEVER = new Date(8.64e15);

/** The daytimes of the account and of the message's route. */
export type Daytimes = readonly (Daytime | undefined)[];

/**
 * A function that tells when a message may leave. Undefined: at once. Else the next time at which all daytimes are open
 * in all zones of the recipient's country; `NEVER` if there is none. Urgent messages (`otp`), answers to a customer,
 * and recipients of an unknown country are not held. Each country is computed once, in some 10 µs per zone.
 */
export function daytimeOpenings(now: Date): (daytimes: Daytimes, message: Held) => Date | undefined {
  const known = new Map<string, Date | undefined>();
  return (daytimes, { to, lane, inReplyTo }) => {
    const all = daytimes.filter((one) => one !== undefined);
    if (all.length === 0 || lane === URGENT_LANE || inReplyTo !== undefined) return undefined;
    const country = countryOf(to);
    if (country === undefined) return undefined;
    const key = JSON.stringify([country, all]);
    if (!known.has(key)) known.set(key, openingOf(all, country, now));
    return known.get(key);
  };
}

function openingOf(daytimes: readonly Daytime[], country: string, now: Date): Date | undefined {
  const own = daytimes.filter(({ countries }) => countries === undefined || countries.includes(country));
  const windows = own.flatMap(({ from, to: until }) =>
    zonesOf(country, now).map((zone) => ({ zone, from: minuteOf(from), until: minuteOf(until) })),
  );
  const latest = now.getTime() + LOOK_DAYS * DAY_MINUTES * MINUTE_MS;
  let at = now.getTime();
  for (;;) {
    const next = Math.max(...windows.map((window) => openingIn(window, at)), at);
    if (next === at) return at === now.getTime() ? undefined : new Date(at);
    if (next > latest) return NEVER;
    at = next;
  }
}

interface ZoneWindow {
  readonly zone: string;
  /** Minutes of the day. */
  readonly from: number;
  readonly until: number;
}

/** `at` itself if the window is open then, else its next opening. */
function openingIn({ zone, from, until }: ZoneWindow, at: number): number {
  const minute = localMinute(zone, at);
  const open = from < until ? minute >= from && minute < until : minute >= from || minute < until;
  if (open) return at;
  const ahead = (from - minute + DAY_MINUTES) % DAY_MINUTES;
  const opening = Math.floor(at / MINUTE_MS) * MINUTE_MS + ahead * MINUTE_MS;
  // The clocks may change before the opening. If they skip `from`, the window opens at the change.
  const late = ((localMinute(zone, opening) - from + DAY_MINUTES * 1.5) % DAY_MINUTES) - DAY_MINUTES / 2;
  const changed = opening - late * MINUTE_MS;
  return localMinute(zone, changed) === from && changed > at ? changed : opening;
}

/** `09:30` as minutes. */
function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function localMinute(zone: string, at: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' });
    formats.set(zone, format);
  }
  return minuteOf(format.format(at));
}

/** Regions without zones in CLDR get those of tzdata's zone1970.tab; Kosovo, which has no code there, Belgrade's. */
const zones = new Map<string, readonly string[]>([
  ['AC', ['Atlantic/St_Helena']],
  ['TA', ['Atlantic/St_Helena']],
  ['XK', ['Europe/Belgrade']],
]);

/** From Node's ICU (CLDR and tz), so as current as Node. Of zones whose clocks agree for a year, only one. */
function zonesOf(country: string, now: Date): readonly string[] {
  let known = zones.get(country);
  if (known === undefined) {
    // Node 20 has the proposal's first form, later versions its last. TypeScript knows neither.
    const locale: Intl.Locale & { readonly timeZones?: string[]; getTimeZones?(): string[] } = new Intl.Locale('und', {
      region: country,
    });
    const all = locale.getTimeZones?.() ?? locale.timeZones ?? [];
    known = [...new Map(all.toReversed().map((zone) => [clockOf(zone, now), zone])).values()].sort();
    zones.set(country, known);
  }
  return known;
}

/** The zone's clock on each third day of a year from now on, to compare zones. */
function clockOf(zone: string, now: Date): string {
  return Array.from({ length: 122 }, (_, i) =>
    localMinute(zone, now.getTime() + i * 3 * DAY_MINUTES * MINUTE_MS),
  ).join();
}

/** `09:00 to 21:00`. */
export function daytimeWords(daytimes: Daytimes): string {
  const all = daytimes.flatMap((one) => (one === undefined ? [] : [`${one.from} to ${one.to}`]));
  return [...new Set(all)].join(' and ');
}
