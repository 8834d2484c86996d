import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { ALL_ANNOUNCED, type TemplateDocument, templateKey } from '../../../shared/templates/sms/template.ts';

/**
 * An account may change or remove only what it asked for itself and nobody ever approved. Messages with the text of any other
 * template may be waiting: after a change they would leave with the id of a template that has another text.
 */
const OWN = { requested: true, approvedAt: { $exists: false } } as const;

/** Gives a rejected template of the account's own another text; it waits for an operator again. False when it is none. */
export async function resubmitTemplate(
  db: Db,
  account: AccountId,
  dltId: string,
  text: Partial<Pick<TemplateDocument, 'name' | 'senders' | 'routes' | 'category' | 'content'>>,
): Promise<boolean> {
  const { matchedCount } = await templates(db).updateOne(
    { _id: templateKey(account, dltId), status: 'rejected', ...OWN },
    { $set: { ...text, status: 'submitted' }, $unset: { reason: '', decidedAt: '' } },
  );
  return matchedCount === 1;
}

/** Removes a template of the account's own that nobody ever approved. False when it is none, or webhooks are to be told of it. */
export async function removeTemplate(db: Db, account: AccountId, dltId: string): Promise<boolean> {
  const { deletedCount } = await templates(db).deleteOne({
    _id: templateKey(account, dltId),
    ...OWN,
    ...ALL_ANNOUNCED,
  });
  return deletedCount === 1;
}

function templates(db: Db): Collection<TemplateDocument> {
  return db.collection('templates');
}
