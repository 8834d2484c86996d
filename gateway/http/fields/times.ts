import { type OffsetTime, parseOffsetTime } from '../../../shared/platform/runtime/clock.ts';
import { Fault, type Field, type Kind, optional, otherwise, required, string } from './field.ts';
import type { Rule } from './request.ts';

/** `valid_until` (extension) and `schedule_time` ("Scheduled message"). */

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const VALID_DAYS_MAX = 7;
const AHEAD_DAYS_MAX = 35;
export const AHEAD_MAX_MS = AHEAD_DAYS_MAX * DAY_MS;

const NOT_A_TIME = new Fault(
  'invalid_time',
  'It must be an ISO 8601 date-time with an offset, for example 2027-01-31T18:00:00+05:30.',
);

const NO_SUCH_TIME = new Fault('invalid_time', 'There is no such day, time of day or offset.');

const TIME_OF_DAY = '([01][0-9]|2[0-3]):[0-5][0-9]';
/** All that a pattern can say: months have different lengths. */
export const TIME_WITH_OFFSET = `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T${TIME_OF_DAY}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]${TIME_OF_DAY})$`;
const WELL_FORMED = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

function dateTime<Value>(description: string, parse: (time: OffsetTime, now: Date) => Value | Fault): Kind<Value> {
  return string({ description, format: 'date-time', pattern: TIME_WITH_OFFSET }, (text, { now }) => {
    const time = parseOffsetTime(text);
    if (time !== undefined) return parse(time, now);
    return WELL_FORMED.test(text) ? NO_SUCH_TIME : NOT_A_TIME;
  });
}

/** A time later than now and, if `days` is given, at most that far ahead. */
export function laterTime(description: string, days?: number): Kind<Date> {
  return dateTime(description, ({ at }, now) => {
    const aheadMs = at.getTime() - now.getTime();
    if (aheadMs <= 0) return new Fault('out_of_range', 'It must be later than now.');
    if (days === undefined || aheadMs <= days * DAY_MS) return at;
    return new Fault('out_of_range', `It may be at most ${days} days ahead.`);
  });
}

export function earlierTime(description: string): Kind<Date> {
  return dateTime(description, ({ at }, now) =>
    at < now ? at : new Fault('out_of_range', 'It must be earlier than now.'),
  );
}

const VALID_UNTIL =
  'Extension: when the message expires if it is not delivered by then, at most 7 days ahead. Default: 48 hours (setting).';

/** For a message sent now. Always has a value. */
export const validUntilFromNow: Field<Date> = otherwise(
  dateTime(VALID_UNTIL, ({ at }, now) => validityFault(at, now, 'now') ?? at),
  ({ now, config }) => new Date(now.getTime() + config.validityHours * HOUR_MS),
);

function validityFault(at: Date, from: Date, fromName: string): Fault | undefined {
  const aheadMs = at.getTime() - from.getTime();
  if (aheadMs <= 0) return new Fault('out_of_range', `It must be later than ${fromName}.`);
  if (aheadMs <= VALID_DAYS_MAX * DAY_MS) return undefined;
  return new Fault('out_of_range', `It may be at most ${VALID_DAYS_MAX} days after ${fromName}.`);
}

interface ScheduleTime {
  readonly at: Date;
  /** The instant with the caller's offset, in the specification's form: `2026-11-21T10:00:00+05:30`. */
  readonly scheduledFor: string;
}

/** The offset determines the instant, so changes to and from summer time need no rule. */
const scheduleTime: Kind<ScheduleTime> = dateTime(
  'When to send: later than now, at most 35 days ahead. The example needs a time that is still ahead.',
  ({ at, offsetMinutes }, now) => {
    const aheadMs = at.getTime() - now.getTime();
    if (aheadMs <= 0) return new Fault('out_of_range', 'It must be later than now.');
    if (aheadMs <= AHEAD_MAX_MS) return { at, scheduledFor: inOffset(at, offsetMinutes) };
    return new Fault('out_of_range', `It may be at most ${AHEAD_DAYS_MAX} days ahead.`);
  },
);

/** Milliseconds are shown only if there are any: the specification's form has none. */
function inOffset(at: Date, offsetMinutes: number): string {
  const local = new Date(at.getTime() + offsetMinutes * 60_000).toISOString();
  const fraction = at.getUTCMilliseconds() === 0 ? '' : local.slice(19, 23);
  const sign = offsetMinutes < 0 ? '-' : '+';
  const minutes = Math.abs(offsetMinutes);
  return `${local.slice(0, 19)}${fraction}${sign}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** For a message sent later. Its validity begins at `schedule_time`. */
export const SCHEDULE_FIELDS = {
  schedule_time: required(scheduleTime),
  valid_until: optional(dateTime(VALID_UNTIL, ({ at }) => at)),
};

/** If `schedule_time` is wrong, only the form of `valid_until` is checked. */
export const validAfterSchedule: Rule<typeof SCHEDULE_FIELDS> = (given, _has, problems) => {
  const { schedule_time: time, valid_until: until } = given;
  const fault = time && until && validityFault(until, time.at, '`schedule_time`');
  if (fault !== undefined) problems.add('valid_until', fault.code, fault.detail);
};
