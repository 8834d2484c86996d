import type { NumberRules } from '../../shared/accounts/number-check.ts';
import type { Route } from '../../shared/messages/message.ts';
import {
  DEFAULT_PRIORITY,
  DEFAULT_ROUTE,
  isPriority,
  isRoute,
  PRIORITIES,
  type Priority,
  ROUTES,
} from '../../shared/messages/routing.ts';
import { isSenderForm } from '../../shared/senders/sender-form.ts';
import { planText, type TextPlan } from '../../shared/sms/segment.ts';
import type { JsonObject } from '../http/context.ts';
import { type FieldProblems, optionalString, requiredString } from '../http/fields.ts';
import { parseOffsetTime } from '../http/offset-time.ts';
import type { FieldProblem } from '../http/problem.ts';
import { checkRecipient } from './check-recipient.ts';
import { parseParams } from './recipients.ts';
import { AHEAD_DAYS_MAX, readScheduleTime, type ScheduleTime } from './schedule-time.ts';

/** The fields of "SMS message (request to send)" and our extensions to it, each with its check. */

export interface PlannedText {
  readonly text: string;
  readonly plan: TextPlan;
}

export function parseTo(
  body: JsonObject,
  rules: NumberRules,
  problems: FieldProblems,
  channel: 'sms' | 'chatapp' = 'sms',
): string | undefined {
  const to = requiredString(body, 'to', problems);
  if (to === undefined) return undefined;
  const problem = checkRecipient(to, rules, channel);
  if (problem !== undefined) problems.add('to', problem.code, problem.detail);
  return to;
}

export function parseMessage(body: JsonObject, maxSegments: number, problems: FieldProblems): PlannedText | undefined {
  const text = requiredString(body, 'message', problems);
  if (text === undefined) return undefined;
  if (text === '') problems.add('message', 'too_short', 'It must have at least one character.');
  const plan = planText(text);
  const problem = textProblem(text, plan, maxSegments);
  if (problem !== undefined) problems.add('message', problem.code, problem.detail);
  return problem?.code === 'invalid_text' ? undefined : { text, plan };
}

/** Why a text cannot be sent, if it cannot. */
export function textProblem(
  text: string,
  plan: TextPlan,
  maxSegments: number,
): Pick<FieldProblem, 'code' | 'detail'> | undefined {
  // With the flag `u` only half of a surrogate pair matches: such a text cannot be written in UTF-8 nor sent.
  if (/\p{Surrogate}/u.test(text)) {
    const detail = 'It holds half of a surrogate pair (a broken character, often a cut emoji).';
    return { code: 'invalid_text', detail };
  }
  if (plan.segments <= maxSegments) return undefined;
  const detail = `It needs ${plan.segments} segments (${plan.encoding}); at most ${maxSegments} are allowed.`;
  return { code: 'too_long', detail };
}

export function parseSender(body: JsonObject, problems: FieldProblems): string | undefined {
  const sender = requiredString(body, 'sender', problems);
  if (sender !== undefined && !isSenderForm(sender)) {
    const detail =
      'It must be 1 to 11 GSM characters (letters, digits, space and common signs) with a letter among them, or 3 to 15 digits.';
    problems.add('sender', 'invalid_sender', detail);
  }
  return sender;
}

export function parseRoute(body: JsonObject, problems: FieldProblems): Route | undefined {
  const route = optionalString(body, 'route', problems) ?? DEFAULT_ROUTE;
  if (isRoute(route)) return route;
  problems.add('route', 'invalid_value', `It must be one of ${ROUTES.join(', ')}.`);
  return undefined;
}

/** Extension: a template instead of a text. No params are an empty list; undefined when they are none. */
export function parseTemplate(
  body: JsonObject,
  problems: FieldProblems,
): { readonly templateId: string | undefined; readonly params: readonly string[] | undefined } {
  const templateId = optionalString(body, 'template_id', problems);
  const params = Object.hasOwn(body, 'params') ? parseParams(body.params, 'params', problems) : [];
  const named = Object.hasOwn(body, 'template_id');
  if (named && Object.hasOwn(body, 'message')) {
    problems.add('message', 'conflict', 'Give `message` or `template_id`, not both.');
  }
  if (!named && Object.hasOwn(body, 'params')) {
    problems.add('params', 'conflict', '`params` fill the slots of a template: give its `template_id`.');
  }
  return { templateId, params };
}

/** Extension. Who may use `otp` is the key's scope, not the field's form. */
export function parsePriority(
  body: JsonObject,
  route: Route | undefined,
  problems: FieldProblems,
): Priority | undefined {
  const priority = optionalString(body, 'priority', problems) ?? DEFAULT_PRIORITY;
  if (!isPriority(priority)) {
    problems.add('priority', 'invalid_value', `It must be one of ${PRIORITIES.join(', ')}.`);
    return undefined;
  }
  if (priority === 'otp' && route === 'promotional') {
    problems.add('priority', 'invalid_value', '"otp" goes with the transactional route only.');
  }
  return priority;
}

const REFERENCE_MAX = 255;

/** Extension: the caller's own name of a message, echoed in its status and events. */
export function parseReference(body: JsonObject, problems: FieldProblems): string | undefined {
  const reference = optionalString(body, 'reference', problems);
  if (reference === undefined) return undefined;
  if (reference === '') problems.add('reference', 'too_short', 'It must have at least one character, or be left out.');
  if (reference.length > REFERENCE_MAX) {
    problems.add('reference', 'too_long', `It may have at most ${REFERENCE_MAX} characters.`);
  } else if (/\p{Surrogate}|\p{Cc}/u.test(reference)) {
    problems.add('reference', 'invalid_text', 'It may hold no control characters and no half of a surrogate pair.');
  }
  return reference;
}

export const HOUR_MS = 3_600_000;
const VALID_DAYS_MAX = 7;

/** Extension: until when a message may wait and travel; `validityHours` from now unless the caller says. */
export function parseValidUntil(
  body: JsonObject,
  now: Date,
  validityHours: number,
  problems: FieldProblems,
): Date | undefined {
  if (!Object.hasOwn(body, 'valid_until')) return new Date(now.getTime() + validityHours * HOUR_MS);
  return parseGivenValidUntil(body, { at: now, name: 'now' }, problems);
}

/** Only what the caller says. The range counts from `from`; without it, because that is wrong itself, only the form is checked. */
export function parseGivenValidUntil(
  body: JsonObject,
  from: { readonly at: Date; readonly name: string } | undefined,
  problems: FieldProblems,
): Date | undefined {
  const text = optionalString(body, 'valid_until', problems);
  if (text === undefined) return undefined;
  const time = parseOffsetTime(text);
  if (time === undefined) {
    problems.add('valid_until', 'invalid_time', NOT_A_TIME);
    return undefined;
  }
  if (from === undefined) return time.at;
  const aheadMs = time.at.getTime() - from.at.getTime();
  if (aheadMs <= 0) problems.add('valid_until', 'out_of_range', `It must be later than ${from.name}.`);
  if (aheadMs > VALID_DAYS_MAX * 24 * HOUR_MS) {
    problems.add('valid_until', 'out_of_range', `It may be at most ${VALID_DAYS_MAX} days after ${from.name}.`);
  }
  return time.at;
}

/** When a schedule is to be sent ("Scheduled message"). */
export function parseScheduleTime(body: JsonObject, now: Date, problems: FieldProblems): ScheduleTime | undefined {
  const text = requiredString(body, 'schedule_time', problems);
  if (text === undefined) return undefined;
  const time = readScheduleTime(text, now);
  switch (time) {
    case 'not_a_time':
      problems.add('schedule_time', 'invalid_time', NOT_A_TIME);
      return undefined;
    case 'not_later':
      problems.add('schedule_time', 'out_of_range', 'It must be later than now.');
      return undefined;
    case 'too_far':
      problems.add('schedule_time', 'out_of_range', `It may be at most ${AHEAD_DAYS_MAX} days ahead.`);
      return undefined;
    default:
      return time;
  }
}

const NOT_A_TIME = 'It must be an ISO 8601 date-time with an offset, for example 2027-01-31T18:00:00+05:30.';
