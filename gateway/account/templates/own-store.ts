import type { Collection, Db } from 'mongodb';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { KEY_END } from '../../../shared/templates/store.ts';
import {
  NOTHING_OWED,
  type TemplateDocument,
  type TemplateStatus,
  templateKey,
} from '../../../shared/templates/template.ts';

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
  const { deletedCount } = await templates(db).deleteOne({ _id: templateKey(account, dltId), ...OWN, ...NOTHING_OWED });
  return deletedCount === 1;
}

/** An account's templates, by id, behind `after`; only those of a status when one is given. */
export async function listTemplatePage(
  db: Db,
  account: AccountId,
  status: TemplateStatus | undefined,
  after: string | undefined,
  limit: number,
): Promise<readonly TemplateDocument[]> {
  const place = after === undefined ? {} : { dltId: { $gt: after } };
  if (status !== undefined) {
    return templates(db)
      .find({ account, status, ...place })
      .sort({ dltId: 1 })
      .limit(limit)
      .toArray();
  }
  return templates(db)
    .find({ _id: { $gt: templateKey(account, after ?? ''), $lt: templateKey(account, KEY_END) } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

function templates(db: Db): Collection<TemplateDocument> {
  return db.collection('templates');
}
