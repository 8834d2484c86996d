import { Fault, type Kind, string } from '../../http/fields/field.ts';

/** A text as it is, of bounded length. */
export function text(description: string, maxLength: number): Kind<string> {
  const tooLong = new Fault('too_long', `It may have at most ${maxLength} characters.`);
  return string({ description, maxLength }, (given) => ([...given].length > maxLength ? tooLong : given));
}

/** Longer than any password that may be set, so that a wrong one is told as wrong. */
export const PASSWORD_TEXT_MAX = 1_000;
