import { isSenderForm, SENDER_FORM } from '../../../shared/carriers/sender.ts';
import { type ChannelName, isCarried } from '../../../shared/messages/document/channel.ts';
import {
  CUSTOMER_FORM,
  customerProblem,
  isCustomerUserId,
  recipientProblem,
} from '../../../shared/messages/document/recipient.ts';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import { planText, type TextPlan } from '../../../shared/messages/sms-plan.ts';
import { numberProblem } from '../../../shared/money/accounts/number-check.ts';
import { type Pattern, renderTemplate } from '../../../shared/templates/sms/pattern.ts';
import type { FieldProblems } from '../field-problems.ts';
import { boolean, choice, Fault, type Kind, list, optional, string, withDefault } from './field.ts';
import type { Given, Rule } from './request.ts';

/** Fields that several requests share: those of "SMS message (request to send)", and our extensions. */

const NUMBER = {
  description: 'Recipient: digits, country code first, no plus sign.',
  pattern: '^[1-9][0-9]{7,14}$',
};

const CUSTOMER = {
  description:
    'Recipient: digits, country code first, no plus sign; or, as `message.received` gave it in `from`, the user id of a customer who shows no number.',
  pattern: CUSTOMER_FORM.source,
};

/** A recipient. Account settings and channel can demand more than the form of a number: docs/decisions/0007. */
export function recipient(channel: ChannelName): Kind<string> {
  const [schema, problemOf] = isCarried(channel) ? [NUMBER, recipientProblem] : [CUSTOMER, customerProblem];
  return string(schema, (to, { account }) => {
    const form = problemOf(to);
    if (form !== undefined) return new Fault('invalid_phone', form);
    const problem = isCustomerUserId(to) ? undefined : numberProblem(to, account, channel);
    return problem === undefined ? to : new Fault(problem.code, problem.detail);
  });
}

export interface PlannedText {
  readonly text: string;
  readonly plan: TextPlan;
}

export const messageText: Kind<PlannedText> = string(
  { description: 'Text of the message, at most 10 segments (setting). Give `message` or `template_id`.', minLength: 1 },
  (text, { config }) => plannedText(text, config.maxSegments),
);

function plannedText(text: string, maxSegments: number): PlannedText | Fault {
  if (hasHalfCharacter(text)) return new Fault('invalid_text', HALF_CHARACTER);
  const plan = planText(text);
  // A text of only a byte order mark, and a template with empty params, have no character either.
  if (plan.units === 0) return new Fault('too_short', 'The text must have at least one character.');
  if (plan.segments <= maxSegments) return { text, plan };
  const needed = `It needs ${plan.segments} segments (${plan.encoding})`;
  return new Fault('too_long', `${needed}; at most ${maxSegments} are allowed.`);
}

/** Half of a surrogate pair cannot be written in UTF-8. With the flag `u` the pattern matches only such halves. */
export function hasHalfCharacter(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

/** Texts without control characters; and texts of one line, without U+2028 and U+2029, and not blank. */
export const NO_CONTROLS = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';
const IN_LINE = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';
export const ONE_LINE = `^[^${IN_LINE}]*[^${IN_LINE}\\s][^${IN_LINE}]*$`;

export const HALF_CHARACTER = 'It contains half of a character, perhaps of an emoji that was cut.';

/**
 * Fills a template's slots. Params that do not fit, and a text that becomes too long, are problems of `field` or its
 * entries.
 */
export function renderText(
  pattern: Pattern,
  params: readonly string[],
  field: string,
  maxSegments: number,
  problems: FieldProblems,
): PlannedText | undefined {
  const rendered = renderTemplate(pattern, params);
  if (rendered.kind === 'invalid') {
    for (const { index, code, detail } of rendered.problems) {
      problems.add(index === undefined ? field : `${field}[${index}]`, code, detail);
    }
    return undefined;
  }
  const planned = plannedText(rendered.text, maxSegments);
  if (!(planned instanceof Fault)) return planned;
  const half = params.findIndex(hasHalfCharacter);
  return problems.add(half < 0 ? field : `${field}[${half}]`, planned.code, planned.detail);
}

export const sender: Kind<string> = string(
  {
    description: 'Sender id: 1 to 11 GSM characters with at least one letter, or 3 to 15 digits.',
    pattern: SENDER_FORM.source,
  },
  (text) => (isSenderForm(text) ? text : new Fault('invalid_sender', NO_SENDER)),
);

const NO_SENDER =
  'It must be 3 to 15 digits, or 1 to 11 characters with at least one letter: letters, digits, spaces and common signs.';

export const route = withDefault(choice(ROUTES, 'Kind of traffic.'), 'transactional');

export const templateId = optional(
  string(
    { description: 'Extension: id of an approved DLT template of the sender, in place of `message`.' },
    (text) => text,
  ),
);

/** A template has at most 2,000 characters, so it cannot have more than `maxItems` slots. */
export const params: Kind<readonly string[]> = list(
  string({}, (text) => text),
  { description: 'Values for the slots of the template, in order.', maxItems: 250 },
);

const REFERENCE_MAX = 255;

export const reference = optional(
  string(
    {
      description: 'Extension: your own name for the message, repeated in its status and events.',
      minLength: 1,
      maxLength: REFERENCE_MAX,
      pattern: NO_CONTROLS,
    },
    (text) => {
      if (text === '') return new Fault('too_short', 'It must have at least one character. Or leave it out.');
      if (text.length > REFERENCE_MAX) return new Fault('too_long', `It may have at most ${REFERENCE_MAX} characters.`);
      if (hasHalfCharacter(text)) return new Fault('invalid_text', HALF_CHARACTER);
      return /\p{Cc}/u.test(text) ? new Fault('invalid_text', 'It must not contain control characters.') : text;
    },
  ),
);

export const dryRun = withDefault(
  boolean('Extension: makes the same checks and answers the same errors, but stores and charges nothing.'),
  false,
);

export const messageOrTemplate = { names: ['message', 'template_id'], surplus: 'message' } as const;

type SlotFields = { readonly template_id: typeof templateId };

/** Params of single recipients count as params of the request. */
export const paramsNeedTemplate: Rule<SlotFields> = (_given: Given<SlotFields>, has, problems) => {
  if (has('template_id') || !has('params')) return;
  problems.add('params', 'conflict', NO_TEMPLATE);
};

export const NO_TEMPLATE = '`params` fill the slots of a template: give its `template_id` too.';
