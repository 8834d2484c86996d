import { isSenderForm } from '../../../shared/carriers/sender-form.ts';
import { TEMPLATE_CATEGORIES } from '../../../shared/templates/sms/category.ts';
import { CONTENT_MAX } from '../../../shared/templates/sms/pattern.ts';
import { isDltId, NAME_MAX, SENDERS_MAX } from '../../../shared/templates/sms/template-form.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, Fault, list, optional, required, string } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { contentFaults } from './content-faults.ts';

const SENDER_FAULT = new Fault(
  'invalid_sender',
  'It must be 1 to 11 characters with at least one letter, or 3 to 15 digits.',
);
const DLT_ID_FAULT = new Fault('invalid_value', 'It must be 10 to 20 digits, as the DLT platform shows it.');

const name = string({ description: 'A name for people.', minLength: 1, maxLength: NAME_MAX }, (text) => {
  if (text === '' || text.length > NAME_MAX) return new Fault('too_long', `It must have 1 to ${NAME_MAX} characters.`);
  return /\p{Cc}|\p{Surrogate}/u.test(text)
    ? new Fault('invalid_text', 'It must not contain control characters.')
    : text;
});

const senders = list(
  string({ minLength: 1, maxLength: 15 }, (text) => (isSenderForm(text) ? text : SENDER_FAULT)),
  { description: 'The headers (senders) that may send it.', minItems: 1, maxItems: SENDERS_MAX },
);

const category = choice(TEMPLATE_CATEGORIES, 'Its category on the DLT platform. It decides the route of its messages.');

const content = string(
  {
    description: 'Its text, exactly as on the DLT platform, slots as {#var#}.',
    minLength: 1,
    maxLength: CONTENT_MAX,
  },
  (text) => text,
);

const dltId = (description: string) =>
  string({ description, pattern: '^[0-9]{10,20}$' }, (text) => (isDltId(text) ? text : DLT_ID_FAULT));

/** Each fault of the text is a problem of its own, with its place. */
function wellFormed({ content: text }: { readonly content?: string }, _has: unknown, problems: FieldProblems): void {
  for (const { detail } of text === undefined ? [] : contentFaults(text))
    problems.add('content', 'invalid_text', detail);
}

export const REQUEST_TEMPLATE = request(
  {
    name: optional(name),
    senders: required(senders),
    category: required(category),
    content: required(content),
    dlt_id: optional(dltId('Its id on the DLT platform. Without it: give it later, when you have it.')),
    entity_id: optional(dltId("PE id of the business that registered it, when it is not the account's own.")),
  },
  [],
  [wellFormed],
);

export const CHANGE_TEMPLATE = request(
  {
    name: optional(name),
    senders: optional(senders),
    category: optional(category),
    content: optional(content),
    dlt_id: optional(dltId('The id that the DLT platform gave it.')),
  },
  [],
  [wellFormed],
);
