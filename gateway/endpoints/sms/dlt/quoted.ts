import { UNSEEN } from '../../../../shared/messages/sms-plan.ts';

/** The text as JSON, with what nobody sees as its number: a no-break space is `\u00a0`. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(UNSEEN, (character) =>
    character
      .split('')
      .map((codeUnit) => `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
