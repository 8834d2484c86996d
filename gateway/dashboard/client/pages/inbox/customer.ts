import type { EntryOf } from '../../../../api/endpoint.ts';
import type { inbox } from '../../../../endpoints/inbox/inbox.ts';
import type { receivedSms } from '../../../../endpoints/inbox/messages.ts';

export type InboxRow = EntryOf<typeof inbox>;

/** Who wrote, and how long one may answer freely: as `GET /v2/account/inbox` shows them, and `/v2/account/inbox/{customer}`. */
export type Customer = Omit<InboxRow, 'last_message'>;

/** An entry of `GET /v2/account/inbox/{customer}` and of `GET /v2/account/received-sms`. */
export type InboxMessage = EntryOf<typeof receivedSms>;

/** The account's number that it was written to, or left from: an answer to it, or a reaction, leaves from no other. */
export function ourNumberOf({ direction, to, from }: InboxMessage): string | null {
  return (direction === 'in' ? to : from) ?? null;
}

export const INBOX_TABS = [
  { href: '/dashboard/inbox', label: 'Chat-app' },
  { href: '/dashboard/inbox/sms', label: 'SMS' },
] as const;

/** A text as a row shows it; other things by their type, as "image". */
export function shortly({ type, body }: NonNullable<InboxRow['last_message']>): string {
  if (body === undefined || body === '') return type ?? 'no text';
  // Half of an emoji would be shown as �.
  return body.length > 80 ? `${body.slice(0, 80).replace(/[\ud800-\udbff]$/, '')}…` : body;
}
