import { EMAIL_MAX, isEmail } from '../../../shared/people/users/user.ts';
import { Fault, type Kind, optional, string } from '../../http/fields/field.ts';

export function boundedText(description: string, maxLength: number): Kind<string> {
  const tooLong = new Fault('too_long', `It may have at most ${maxLength} characters.`);
  return string({ description, maxLength }, (given) => ([...given].length > maxLength ? tooLong : given));
}

/** Longer than any valid password, so that a wrong one is reported as wrong. */
export const PASSWORD_TEXT_MAX = 1_000;

export const currentPassword = boundedText('The password that you sign in with now.', PASSWORD_TEXT_MAX);

export const CODES = {
  code: optional(boundedText('The six digits that your authenticator app shows now.', 20)),
  recovery_code: optional(boundedText('A recovery code, instead of `code`. Each works once.', 100)),
};

export const email = string(
  {
    description: 'Where mails to the user go. Without it: to the sign-in name, if that is an address.',
    maxLength: EMAIL_MAX,
  },
  (text) => {
    const address = text.trim();
    return isEmail(address)
      ? address
      : new Fault('invalid_value', 'It must be an e-mail address, such as ravi@example.com.');
  },
);

const MAX = 100;

export const personName = string(
  { description: 'How the user is called in lists.', minLength: 1, maxLength: MAX },
  (text) => {
    const name = text.trim();
    if (name === '') return new Fault('too_short', 'It must have at least one character.');
    if (name.length > MAX) return new Fault('too_long', `It may have at most ${MAX} characters.`);
    return /\p{Cc}/u.test(name) ? new Fault('invalid_text', 'It may have no control characters.') : name;
  },
);
