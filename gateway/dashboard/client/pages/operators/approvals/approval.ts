/** As `GET /v2/admin/approvals` shows it: a sender or a template. */
export interface Approval {
  readonly kind: 'sender' | 'template';
  readonly account_id: string;
  readonly account_name: string;
  /** How many things of this account wait, this one included. */
  readonly account_waiting: number;
  readonly requested_at: string;
  readonly sender?: { readonly sender_id: string; readonly sender: string; readonly routes: readonly string[] };
  readonly template?: {
    readonly template_id: string;
    readonly dlt_id: string | null;
    readonly name: string;
    readonly senders: readonly string[];
    readonly routes: readonly string[];
    readonly category: string | null;
    readonly content: string;
    readonly entity_id: string | null;
    readonly version: string;
  };
}

export function nameOf({ sender, template }: Approval): string {
  return sender?.sender ?? template?.name ?? '';
}

export function keyOf({ account_id, sender, template }: Approval): string {
  return `${account_id} ${sender?.sender ?? template?.template_id}`;
}

/** Where its decision is posted to. */
export function pathOf({ account_id, sender, template }: Approval): string {
  const account = `/v2/admin/accounts/${account_id}`;
  return sender === undefined
    ? `${account}/templates/${template?.template_id}/decision`
    : `${account}/senders/${encodeURIComponent(sender.sender)}/decision`;
}
