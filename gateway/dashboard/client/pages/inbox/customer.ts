import type { EntryOf } from '../../../../api/endpoint.ts';
import type { inbox } from '../../../../endpoints/inbox/inbox.ts';
import type { receivedSms } from '../../../../endpoints/inbox/messages.ts';
/** Who wrote, and how long one may answer freely: `GET /v2/account/inbox`. */
export interface Customer {
  readonly customer: InboxRow['customer'];
  /** What to write to: the number, or the user id. */
  readonly to: string;
  /** Other numbers and user ids of the same person. */
  readonly aliases: readonly string[];
  /** When the customer told the provider to get no marketing. */
  readonly marketing_stopped_at: string | null;
  readonly last_message_at: string | null;
  /** Ours, which the session is with. */
  readonly number: string | null;
  readonly session_open: boolean;
  readonly session_until: string | null;
  readonly conversation: { readonly until: string; readonly credits: number } | null;
}

export type InboxRow = EntryOf<typeof inbox>;

/** An entry of `GET /v2/account/inbox/{customer}` and of `GET /v2/account/received-sms`. */
export type InboxMessage = EntryOf<typeof receivedSms>;

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
