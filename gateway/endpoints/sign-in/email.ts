import { EMAIL_MAX, isEmail } from '../../../shared/people/users/user.ts';
import { Fault, string } from '../../http/fields/field.ts';

/** Where mails to a user go. */
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
