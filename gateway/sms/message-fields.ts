import type { Route } from '../../shared/messages/message.ts';
import { recipientProblem } from '../../shared/messages/recipient.ts';
import { DEFAULT_ROUTE, isRoute, ROUTES } from '../../shared/messages/routing.ts';
import { isSenderForm } from '../../shared/senders/sender-form.ts';
import { planText, type TextPlan } from '../../shared/sms/segment.ts';
import type { JsonObject } from '../http/context.ts';
import { type FieldProblems, optionalString, requiredString } from '../http/fields.ts';

/** The fields of "SMS message (request to send)", each with its check. */

export interface PlannedText {
  readonly text: string;
  readonly plan: TextPlan;
}

export function parseTo(body: JsonObject, problems: FieldProblems): string | undefined {
  const to = requiredString(body, 'to', problems);
  if (to === undefined) return undefined;
  const problem = recipientProblem(to);
  if (problem !== undefined) problems.add('to', 'invalid_phone', problem);
  return to;
}

export function parseMessage(body: JsonObject, maxSegments: number, problems: FieldProblems): PlannedText | undefined {
  const text = requiredString(body, 'message', problems);
  if (text === undefined) return undefined;
  if (text === '') problems.add('message', 'too_short', 'It must have at least one character.');
  // With the flag `u` only half of a surrogate pair matches: such a text cannot be written in UTF-8 nor sent.
  if (/\p{Surrogate}/u.test(text)) {
    problems.add(
      'message',
      'invalid_text',
      'It holds half of a surrogate pair (a broken character, often a cut emoji).',
    );
    return undefined;
  }
  const plan = planText(text);
  if (plan.segments > maxSegments) {
    const detail = `It needs ${plan.segments} segments (${plan.encoding}); at most ${maxSegments} are allowed.`;
    problems.add('message', 'too_long', detail);
  }
  return { text, plan };
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
