import type { JsonObject } from '../http/context.ts';
import { type FieldProblems, optionalString, requiredString } from '../http/fields.ts';

/** A text that must be there, is not blank, and has at most `max` characters. Undefined when it is none. */
export function requiredText(
  body: JsonObject,
  field: string,
  max: number,
  problems: FieldProblems,
  /** Where the object stands in the body, as `buttons[0].`. */
  place = '',
): string | undefined {
  const text = requiredString(body, field, problems, place);
  return text === undefined ? undefined : checkedText(text, place + field, max, problems);
}

/** The same for one that may be left out. */
export function optionalText(
  body: JsonObject,
  field: string,
  max: number,
  problems: FieldProblems,
): string | undefined {
  const text = optionalString(body, field, problems);
  return text === undefined ? undefined : checkedText(text, field, max, problems);
}

/** The same for one that is there. `field` names it, entries of lists as `params[1]`. */
export function checkedText(text: string, field: string, max: number, problems: FieldProblems): string | undefined {
  const count = characters(text);
  if (!/\S/u.test(text)) {
    problems.add(field, 'too_short', 'It must have at least one character that is not a space.');
  } else if (count > max) {
    problems.add(field, 'too_long', `It has ${count} characters; at most ${max} are allowed.`);
  } else if (/\p{Surrogate}/u.test(text)) {
    problems.add(field, 'invalid_text', 'It holds half of a surrogate pair (a broken character, often a cut emoji).');
  } else {
    return text;
  }
  return undefined;
}

/** As the provider counts: an emoji outside Unicode's first plane is one character, not the two that `length` says. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
