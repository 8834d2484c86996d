import type { AccountDocument } from '../../shared/accounts/account.ts';
import { listSenders } from '../../shared/senders/store.ts';
import { listTemplates } from '../../shared/templates/store.ts';
import type { Context } from './command.ts';

/** Something without which every send of an account is refused, and the command that provides it. */
export interface Missing {
  readonly what: 'PE id' | 'sender' | 'template';
  readonly command: string;
}

/** Credits are not listed, because they are shown anyway. Empty for an account that may use any sender. */
export async function missingToSend(
  db: Awaited<ReturnType<Context['db']>>,
  { _id, dlt, entityId, senders }: AccountDocument,
): Promise<readonly Missing[]> {
  const underDlt = dlt === 'on';
  if (!underDlt && senders === 'any') return [];
  const approved = (await listSenders(db, _id)).filter(({ status }) => status === 'approved');
  const templates = underDlt ? await listTemplates(db, _id, 'approved') : [];
  const missing: Missing[] = [];
  // A template may name the PE id of another business.
  if (underDlt && entityId === undefined && !templates.some((template) => template.entityId !== undefined)) {
    missing.push({ what: 'PE id', command: `account update ${_id} --entity-id PE-ID` });
  }
  if (approved.length === 0) missing.push({ what: 'sender', command: `sender create ${_id} SENDER` });
  const known = new Set(approved.map(({ sender }) => sender));
  if (underDlt && !templates.some((template) => template.senders.some((sender) => known.has(sender)))) {
    const needed = approved.length === 0 ? '' : ', of an approved sender';
    missing.push({ what: 'template', command: `template import ${_id} FILE (or template create${needed})` });
  }
  return missing;
}
