import { Fault, string } from '../../http/fields/field.ts';

const MAX = 100;

/** How a user is called in lists. */
export const personName = string(
  { description: 'How the user is called in lists.', minLength: 1, maxLength: MAX },
  (text) => {
    const name = text.trim();
    if (name === '') return new Fault('too_short', 'It must have at least one character.');
    if (name.length > MAX) return new Fault('too_long', `It may have at most ${MAX} characters.`);
    return /\p{Cc}/u.test(name) ? new Fault('invalid_text', 'It may have no control characters.') : name;
  },
);
