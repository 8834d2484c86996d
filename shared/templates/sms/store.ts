import type { Collection, Db, Filter } from 'mongodb';
import type { Route } from '../../messages/document/message.ts';
import { withinQuota } from '../../money/accounts/quotas.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { defined } from '../../platform/runtime/defined.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import {
  MAY_BECOME,
  type NewTemplate,
  type TemplateDocument,
  type TemplateKey,
  type TemplateStatus,
  type TemplateText,
  templateKey,
} from './template.ts';

/** An account has a DLT id once. */
export class TemplateExists extends Error {
  readonly code = 'template_exists';
}

/** Sorts after every id: ids are digits, and a colon follows 9. */
const KEY_END = ':';

/** Templates made by accounts count (`QUOTAS.templates`) until somebody approves them. */
export type Maker = 'account' | 'operator';

/** The template has passed `templateFaults`. Throws `TemplateExists` and `QuotaReached`. */
export async function createTemplate(
  db: Db,
  clock: Clock,
  account: AccountId,
  template: NewTemplate,
  by: Maker = 'operator',
): Promise<TemplateDocument> {
  const document = documentOf(account, template, clock.now());
  try {
    if (by === 'operator') await templates(db).insertOne(document);
    else await withinQuota(db, 'templates', account, (place) => templates(db).insertOne({ ...document, place }));
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new TemplateExists(`template ${template.dltId} is already registered to ${account}`, { cause: error });
  }
  await raiseVersion(db, account);
  return document;
}

/** `changed`: the text is no longer what was read. `not_found`: the account has no such template. */
export type Decision = 'decided' | 'unchanged' | 'changed' | 'not_found';

/**
 * One atomic update from the states that `MAY_BECOME` allows; it also adds the announcement, and an approval frees the
 * place. Processes that match texts see it seconds later. `read`: the text that the operator has read; if the stored
 * one differs, nothing is decided.
 */
export async function decideTemplate(
  db: Db,
  clock: Clock,
  account: AccountId,
  dltId: string,
  status: keyof typeof MAY_BECOME,
  reason?: string,
  read?: TemplateText,
): Promise<Decision> {
  const _id = templateKey(account, dltId);
  const may = MAY_BECOME[status] as readonly TemplateStatus[];
  const at = clock.now();
  const said = reason === undefined ? {} : { reason };
  const gone = [...(reason === undefined ? ['reason'] : []), ...(status === 'approved' ? ['place'] : [])];
  const { matchedCount } = await templates(db).updateOne(
    { _id, status: { $in: [...may] }, ...(read && textOf(read)) },
    {
      $set: { status, decidedAt: at, ...said },
      ...(status === 'approved' ? { $min: { approvedAt: at } } : {}),
      ...(gone.length === 0 ? {} : { $unset: Object.fromEntries(gone.map((name) => [name, ''])) }),
      $push: { unannounced: { event: status, status, ...said, at } },
    },
  );
  if (matchedCount === 1) {
    await raiseVersion(db, account);
    return 'decided';
  }
  const found = await findTemplate(db, account, dltId);
  if (found === undefined) return 'not_found';
  return may.includes(found.status) ? 'changed' : 'unchanged';
}

export function textOf({ content, senders, routes, entityId }: TemplateText): Filter<TemplateDocument> {
  return { content, senders, routes, entityId: entityId ?? { $exists: false } };
}

/** While paused, its messages wait; workers see it within seconds. False when there is none. Idempotent. */
export async function setTemplatePaused(db: Db, account: AccountId, dltId: string, paused: boolean): Promise<boolean> {
  const { matchedCount } = await templates(db).updateOne(
    { _id: templateKey(account, dltId) },
    paused ? { $set: { paused: true } } : { $unset: { paused: '' } },
  );
  return matchedCount === 1;
}

/** DLT ids, by account. */
export async function readPausedTemplates(db: Db): Promise<ReadonlyMap<AccountId, readonly string[]>> {
  const paused = templates(db)
    .find({ paused: true })
    .project<Pick<TemplateDocument, 'account' | 'dltId'>>({ account: 1, dltId: 1 });
  const byAccount = new Map<AccountId, string[]>();
  for await (const { account, dltId } of paused) {
    byAccount.set(account, [...(byAccount.get(account) ?? []), dltId]);
  }
  return byAccount;
}

export async function findTemplate(db: Db, account: AccountId, dltId: string): Promise<TemplateDocument | undefined> {
  return (await templates(db).findOne({ _id: templateKey(account, dltId) })) ?? undefined;
}

export async function findTemplates(
  db: Db,
  account: AccountId,
  dltIds: readonly string[],
): Promise<ReadonlyMap<string, TemplateDocument>> {
  const _id = { $in: dltIds.map((dltId) => templateKey(account, dltId)) };
  const found = await templates(db).find({ _id }).toArray();
  return new Map(found.map((template) => [template.dltId, template]));
}

export type TemplateApproval = Pick<TemplateDocument, '_id' | 'status' | 'senders' | 'routes'>;

/** One read. Templates that do not exist are left out. */
export async function readApprovals(
  db: Db,
  keys: readonly TemplateKey[],
): Promise<ReadonlyMap<TemplateKey, TemplateApproval>> {
  const found = await templates(db)
    .find({ _id: { $in: [...keys] } })
    .project<TemplateApproval>({ status: 1, senders: 1, routes: 1 })
    .toArray();
  return new Map(found.map((template) => [template._id, template]));
}

export async function hasApproved(
  db: Db,
  account: AccountId,
  filter: Pick<Filter<TemplateDocument>, 'senders' | 'entityId'>,
): Promise<boolean> {
  const found = await templates(db).findOne({ account, status: 'approved', ...filter }, { projection: { _id: 1 } });
  return found !== null;
}

/** By id, after `after`; only those of a status when one is given. Without `limit` all. */
export async function listTemplates(
  db: Db,
  account: AccountId,
  status?: TemplateStatus,
  after?: string,
  limit = 0,
): Promise<readonly TemplateDocument[]> {
  if (status !== undefined) {
    return templates(db)
      .find({ account, status, ...(after === undefined ? {} : { dltId: { $gt: after } }) })
      .sort({ dltId: 1 })
      .limit(limit)
      .toArray();
  }
  // An account's keys are adjacent and in the order of the ids, from the account's own key on.
  return templates(db)
    .find({ _id: { $gt: templateKey(account, after ?? ''), $lt: templateKey(account, KEY_END) } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

export function documentOf(account: AccountId, template: NewTemplate, now: Date): TemplateDocument {
  const { dltId, name, senders, routes, content, status } = template;
  const { entityId, slots, reason, category, requested, request, unannounced } = template;
  return {
    ...{ _id: templateKey(account, dltId), account, dltId, name, senders, routes, content, status, createdAt: now },
    ...defined({ entityId, slots, reason, category, requested, request, unannounced }),
    ...(status === 'submitted' ? {} : { decidedAt: now }),
  };
}

export type ApprovedTemplate = Pick<
  TemplateDocument,
  'dltId' | 'name' | 'senders' | 'routes' | 'entityId' | 'content' | 'slots'
>;

/** Templates read at once: about 300 KB. */
const CHUNK = 500;

/** For `GET /v2/templates`, by id, after `after`; in chunks, so that thousands never block. */
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

/** For one sender or all of the account, for one route or any; in chunks, so that thousands never block. */
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
 * Counts changes to an account's templates: while unchanged, a process need not read them again. Raised after the
 * change, so a reader that reads the version first and the templates second at worst reads them once too often.
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
