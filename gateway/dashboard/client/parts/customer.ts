import { phoneDigits } from '../../../../shared/platform/sheets/cell.ts';

/** A person on the chat-app channel, as the API shows one. */
interface Person {
  readonly number?: string | undefined;
  readonly user_id?: string | undefined;
  readonly username?: string | undefined;
  readonly name?: string | undefined;
}

/** A customer as people enter one: a number however it is written; user ids and names as they are. */
export function customerAsked(entered: string): string {
  const text = entered.trim();
  return /[A-Za-z]/.test(text) ? text : phoneDigits(text);
}

/** What a person is called, in one line. */
export function calledOf({ username, name, number, user_id: id }: Person): string {
  const shown = number ?? (username === undefined ? id : `@${username}`);
  return [name, shown].filter((one) => one !== undefined).join(', ');
}
