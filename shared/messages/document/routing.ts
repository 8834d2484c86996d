import type { Config } from '../../platform/config/settings.ts';
import type { Route } from './message.ts';

/** The specification's values, the default first ("SMS message (request to send)"). */
export const ROUTES = ['transactional', 'promotional'] as const satisfies readonly Route[];

/** The routing group of a message, fixed at accept: the carriers that serve it claim from it. */
export function pathOf(route: Route): string {
  return route;
}

/** The values of `priority` (extension), the default first. `otp` is for the transactional route. */
export const PRIORITIES = ['normal', 'otp', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

const LANES: Readonly<Record<Route, Readonly<Record<Priority, number>>>> = {
  transactional: { otp: 0, normal: 1, low: 2 },
  // No promotional message is urgent by law, so none gets an earlier lane.
  promotional: { otp: 3, normal: 3, low: 3 },
};

/** Promotional messages of accounts with DLT: a lane of their own, because it is closed at night. */
export const HOURS_LANE = 4;

/** A lower lane leaves first (message.ts). `dlt`: the account's setting. */
export function laneOf(route: Route, priority: Priority = 'normal', dlt: 'on' | 'off' = 'off'): number {
  return dlt === 'on' && route === 'promotional' ? HOURS_LANE : LANES[route][priority];
}

/**
 * Hours of the recipient's day in which messages may leave: `{from: '09:00', to: '21:00', countries: ['AE']}`. 21:00 to
 * 06:00 spans midnight. They hold in all time zones of the country at once, because a number does not tell its zone.
 */
export interface Daytime {
  readonly from: string;
  /** Exclusive. Equal to `from`: at any time. */
  readonly to: string;
  /** ISO 3166-1. Absent: all countries. */
  readonly countries?: readonly string[];
}

/** Hours in which promotional messages under DLT may leave, as minutes of the day in India. May span midnight. */
export interface PromotionalHours {
  readonly fromMinute: number;
  /** Exclusive. Equal to `fromMinute`: at any time. */
  readonly untilMinute: number;
}

/** India has no summer time (UTC+05:30). */
const IST_OFFSET_MINUTES = 330;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** TCCCPR 2018; the settings' defaults say the same. */
export const DEFAULT_PROMOTIONAL_HOURS: PromotionalHours = { fromMinute: 600, untilMinute: 1_260 };

export function promotionalHours(config: Pick<Config, 'promotionalFrom' | 'promotionalUntil'>): PromotionalHours {
  return { fromMinute: minuteOf(config.promotionalFrom), untilMinute: minuteOf(config.promotionalUntil) };
}

/** When a message accepted at `now` may leave: undefined for at once, else the next opening. */
export function promotionalDeferral(hours: PromotionalHours, now: Date): Date | undefined {
  const { fromMinute, untilMinute } = hours;
  const ist = Math.floor(now.getTime() / MINUTE_MS) + IST_OFFSET_MINUTES;
  const minute = ist % DAY_MINUTES;
  const behindFrom = minute >= fromMinute;
  const open =
    fromMinute <= untilMinute
      ? fromMinute === untilMinute || (behindFrom && minute < untilMinute)
      : behindFrom || minute < untilMinute;
  if (open) return undefined;
  const opening = ist - minute + fromMinute + (behindFrom ? DAY_MINUTES : 0);
  return new Date((opening - IST_OFFSET_MINUTES) * MINUTE_MS);
}

/** `09:30` as minutes. */
function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
