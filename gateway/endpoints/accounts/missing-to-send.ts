import type { Db } from 'mongodb';
import { listApprovedNames } from '../../../shared/carriers/sender-store.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { hasApproved } from '../../../shared/templates/sms/store.ts';

/** Something without which every send of an account is refused. */
export type Missing = 'PE id' | 'sender' | 'template';

/** What the account lacks before it can send anything. Credits are not among it, because they are shown anyway. */
export async function missingToSend(
  db: Db,
  { _id, dlt, entityId, senders }: AccountDocument,
): Promise<readonly Missing[]> {
  const underDlt = dlt === 'on';
  if (!underDlt && senders === 'any') return [];
  const approved = await listApprovedNames(db, _id);
  const missing: Missing[] = [];
  // A template may name the PE id of another business.
  if (underDlt && entityId === undefined && !(await hasApproved(db, _id, { entityId: { $exists: true } }))) {
    missing.push('PE id');
  }
  if (approved.length === 0) missing.push('sender');
  if (underDlt && !(await hasApproved(db, _id, { senders: { $in: approved } }))) missing.push('template');
  return missing;
}
