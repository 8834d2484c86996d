import { Fault, type Kind, optional, string } from '../../http/fields/field.ts';

/** A text as it is, of bounded length. */
export function boundedText(description: string, maxLength: number): Kind<string> {
  const tooLong = new Fault('too_long', `It may have at most ${maxLength} characters.`);
  return string({ description, maxLength }, (given) => ([...given].length > maxLength ? tooLong : given));
}

/** Longer than any password that may be set, so that a wrong one is told as wrong. */
export const PASSWORD_TEXT_MAX = 1_000;

export const currentPassword = boundedText('The password that you sign in with now.', PASSWORD_TEXT_MAX);

/** The second factor. */
export const CODES = {
  code: optional(boundedText('The six digits that your authenticator app shows now.', 20)),
  recovery_code: optional(boundedText('A recovery code, instead of `code`. Each works once.', 100)),
};
