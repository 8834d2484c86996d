import type { Db } from 'mongodb';
import type { AccountDocument } from '../accounts/account.ts';
import { listSenders } from '../senders/store.ts';
import { listTemplates } from './store.ts';

/** Something without which every send of an account is refused. */
export type Missing = 'PE id' | 'sender' | 'template';

/** What the account lacks before it can send anything. Credits are not among it, because they are shown anyway. */
export async function missingToSend(
  db: Db,
  { _id, dlt, entityId, senders }: AccountDocument,
): Promise<readonly Missing[]> {
  const underDlt = dlt === 'on';
  if (!underDlt && senders === 'any') return [];
  const approved = (await listSenders(db, _id)).filter(({ status }) => status === 'approved');
  const templates = underDlt ? await listTemplates(db, _id, 'approved') : [];
  const known = new Set(approved.map(({ sender }) => sender));
  const missing: Missing[] = [];
  // A template may name the PE id of another business.
  if (underDlt && entityId === undefined && !templates.some((template) => template.entityId !== undefined)) {
    missing.push('PE id');
  }
  if (approved.length === 0) missing.push('sender');
  if (underDlt && !templates.some((template) => template.senders.some((sender) => known.has(sender)))) {
    missing.push('template');
  }
  return missing;
}
