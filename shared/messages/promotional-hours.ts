import type { Config } from '../config/settings.ts';

/** When promotional messages of accounts with DLT may leave: minutes of the day in India; from 21:00 to 06:00 spans a midnight. */
export interface PromotionalHours {
  readonly fromMinute: number;
  /** Excluded. The same as `fromMinute`: at any time. */
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

/** When they may leave that are accepted at `now`: undefined for at once, else the next opening. */
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

/** Of `09:30`, as the settings have it. */
function minuteOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}
