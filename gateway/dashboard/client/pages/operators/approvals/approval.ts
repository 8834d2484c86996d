import type { EntryOf } from '../../../../../api/endpoint.ts';
import type { approvals } from '../../../../../endpoints/approvals/approvals.ts';
/** As `GET /v2/admin/approvals` shows it: a sender, a link or number, or a template. */
export type Approval = EntryOf<typeof approvals>;

export const KINDS = { sender: 'Sender', cta: 'Link or number', template: 'DLT template' } as const;

export function nameOf({ sender, cta, template }: Approval): string {
  return sender?.sender ?? cta?.value ?? template?.name ?? '';
}

export function keyOf({ account_id, sender, cta, template }: Approval): string {
  return `${account_id} ${sender?.sender ?? cta?.cta_id ?? template?.template_id}`;
}

/** Where its decision is posted to. */
export function pathOf({ account_id, sender, cta, template }: Approval): string {
  const account = `/v2/admin/accounts/${account_id}`;
  if (cta !== undefined) return `${account}/ctas/${cta.cta_id}/decision`;
  return sender === undefined
    ? `${account}/templates/${template?.template_id}/decision`
    : `${account}/senders/${encodeURIComponent(sender.sender)}/decision`;
}
