import type { EntryOf } from '../../../../../api/endpoint.ts';
import type { approvals } from '../../../../../endpoints/approvals/approvals.ts';
/** As `GET /v2/admin/approvals` shows it: a sender or a template. */
export type Approval = EntryOf<typeof approvals>;

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
