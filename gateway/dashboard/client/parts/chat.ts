import { phoneDigits } from '../../../../shared/platform/sheets/cell.ts';
import type { EntryOf } from '../../../api/endpoint.ts';
import type { inbox } from '../../../endpoints/inbox/inbox.ts';
import type { receivedSms } from '../../../endpoints/inbox/messages.ts';

interface Person {
  readonly number?: string | undefined;
  readonly user_id?: string | undefined;
  readonly username?: string | undefined;
  readonly name?: string | undefined;
}

/** Removes formatting from a number; user ids and names stay as they are. */
export function customerAsked(entered: string): string {
  const text = entered.trim();
  return /[A-Za-z]/.test(text) ? text : phoneDigits(text);
}

export function calledOf({ username, name, number, user_id: id }: Person): string {
  const shown = number ?? (username === undefined ? id : `@${username}`);
  return [name, shown].filter((one) => one !== undefined).join(', ');
}

export type InboxRow = EntryOf<typeof inbox>;

/** The person and the session, as `GET /v2/account/inbox` and `GET /v2/account/inbox/{customer}` give them. */
export type Customer = Omit<InboxRow, 'last_message'>;

/** An entry of `GET /v2/account/inbox/{customer}` and of `GET /v2/account/received-sms`. */
export type InboxMessage = EntryOf<typeof receivedSms>;

/** The account's number in the conversation: answers and reactions must leave from it. */
export function ourNumberOf({ direction, to, from }: InboxMessage): string | null {
  return (direction === 'in' ? to : from) ?? null;
}

/** A text as a row shows it; other things by their type, as "image". */
export function shortly({ type, body }: NonNullable<InboxRow['last_message']>): string {
  if (body === undefined || body === '') return type ?? 'no text';
  // Half an emoji would be shown as �.
  return body.length > 80 ? `${body.slice(0, 80).replace(/[\ud800-\udbff]$/, '')}…` : body;
}
