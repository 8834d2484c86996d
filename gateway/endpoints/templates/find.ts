import type { Db } from 'mongodb';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, isTemplateRequestId } from '../../../shared/platform/runtime/ids.ts';
import { findTemplateRequest } from '../../../shared/templates/sms/request-store.ts';
import { findTemplate } from '../../../shared/templates/sms/store.ts';
import type { TemplateDocument } from '../../../shared/templates/sms/template.ts';
import { isDltId } from '../../../shared/templates/sms/template-form.ts';
import type { TemplateRequestDocument } from '../../../shared/templates/sms/template-request.ts';

export type FoundTemplate =
  | { readonly kind: 'template'; readonly found: TemplateDocument }
  | { readonly kind: 'request'; readonly found: TemplateRequestDocument };

/** `id` comes from the path: a DLT id, or a request's. Undefined when the account has neither. */
export async function findOwnTemplate(
  db: Db,
  clock: Clock,
  account: AccountId,
  id: unknown,
): Promise<FoundTemplate | undefined> {
  if (typeof id !== 'string') return undefined;
  if (isTemplateRequestId(id)) {
    const found = await findTemplateRequest(db, clock, account, id);
    return found && { kind: 'request', found };
  }
  const found = isDltId(id) ? await findTemplate(db, account, id) : undefined;
  return found && { kind: 'template', found };
}

export const NO_TEMPLATE = {
  detail: 'Check the template_id: the account has no such template. `GET /v2/account/templates` lists them.',
};
