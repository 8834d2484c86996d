import type { Collection, Db } from 'mongodb';
import type { Route } from '../../messages/document/message.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { TemplateDocument } from './template.ts';

/** The fields of an approved template that a matcher needs. */
export type ApprovedTemplate = Pick<
  TemplateDocument,
  'dltId' | 'name' | 'senders' | 'routes' | 'entityId' | 'content' | 'slots'
>;

/** Most templates that are read at once: about 300 KB. */
const CHUNK = 500;

/**
 * The fields of an account's approved templates that `GET /v2/templates` shows, by id, behind `after`; in chunks, so that thousands
 * never block.
 */
export async function* readApprovedTexts(
  db: Db,
  account: AccountId,
  after?: string,
  limit = 0,
): AsyncGenerator<{ readonly id: string } & Pick<TemplateDocument, 'name' | 'content'>> {
  const approved = templates(db)
    .find(
      { account, status: 'approved', ...(after === undefined ? {} : { dltId: { $gt: after } }) },
      { projection: { dltId: 1, name: 1, content: 1 }, batchSize: CHUNK },
    )
    .sort({ dltId: 1 })
    .limit(limit); // 0: all
  for await (const { dltId, name, content } of approved) yield { id: dltId, name, content };
}

export function countApproved(db: Db, account: AccountId): Promise<number> {
  return templates(db).countDocuments({ account, status: 'approved' });
}

/**
 * Approved templates of one sender or of all the account's senders, for one route or any; in chunks, so that thousands never
 * block.
 */
export async function* readApproved(
  db: Db,
  account: AccountId,
  sender?: string,
  route?: Route,
): AsyncGenerator<ApprovedTemplate> {
  const filter = {
    account,
    status: 'approved' as const,
    ...(sender === undefined ? {} : { senders: sender }),
    ...(route === undefined ? {} : { routes: route }),
  };
  yield* templates(db)
    .find(filter, { batchSize: CHUNK })
    .project<ApprovedTemplate>({ dltId: 1, name: 1, senders: 1, routes: 1, entityId: 1, content: 1, slots: 1 });
}

/**
 * A counter of changes to an account's templates: while it is unchanged, a process need not read them again. It is raised after
 * the change. So a reader that reads the version first and the templates second at worst reads them once too often.
 */
export async function readVersion(db: Db, account: AccountId): Promise<number> {
  return (await versions(db).findOne({ _id: account }))?.v ?? 0;
}

/** After each change of an account's templates that a matcher must see. */
export async function raiseVersion(db: Db, account: AccountId): Promise<void> {
  await versions(db).updateOne({ _id: account }, { $inc: { v: 1 } }, { upsert: true });
}

function templates(db: Db): Collection<TemplateDocument> {
  return db.collection('templates');
}

function versions(db: Db): Collection<{ readonly _id: AccountId; readonly v: number }> {
  return db.collection('template_versions');
}
