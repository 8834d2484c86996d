/** Who wrote, and how long one may answer freely: `GET /v2/account/inbox`. */
export interface Customer {
  readonly customer: string;
  /** Other numbers of the same person. */
  readonly aliases: readonly string[];
  readonly last_message_at: string | null;
  readonly session_open: boolean;
  readonly session_until: string | null;
  readonly conversation: { readonly until: string; readonly credits: number } | null;
}

export interface InboxRow extends Customer {
  readonly last_message: { readonly type?: string; readonly body?: string } | null;
}

/** An entry of `GET /v2/account/inbox/{customer}` and of `GET /v2/account/received-sms`. */
export interface InboxMessage {
  readonly message_id: string;
  readonly direction: 'in' | 'out';
  readonly to: string;
  readonly from?: string | null;
  readonly status: string;
  readonly type?: string;
  readonly body?: string;
  readonly body_cut?: true;
  /** Set when the message was written in a group, not to you alone. */
  readonly group_id?: string;
  readonly template?: string;
  readonly language?: string;
  /** The template's values. */
  readonly params?: readonly string[];
  readonly created_at: string;
  readonly error_reason?: string;
}

export const INBOX_TABS = [
  { href: '/dashboard/inbox', label: 'Chat-app' },
  { href: '/dashboard/inbox/sms', label: 'SMS' },
] as const;

/** A text as a row shows it; other things by their type, as "image". */
export function shortly({ type, body }: { readonly type?: string; readonly body?: string }): string {
  if (body === undefined || body === '') return type ?? 'no text';
  // Half of an emoji would be shown as �.
  return body.length > 80 ? `${body.slice(0, 80).replace(/[\ud800-\udbff]$/, '')}…` : body;
}
