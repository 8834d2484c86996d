import type { Collection, Db, Filter } from 'mongodb';
import { isDuplicateKey } from '../mongo/errors.ts';
import { insertNew } from '../mongo/insert-new.ts';
import { roomFor, withinQuota } from '../quotas/quotas.ts';
import type { Clock } from '../runtime/clock.ts';
import type { AccountId } from '../runtime/ids.ts';
import { raiseVersion } from './approved-store.ts';
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

/** Most templates that are imported at once: about 300 KB. */
const CHUNK = 500;
/** Sorts after every id: ids are digits, and a colon follows 9. */
const KEY_END = ':';

/** Who makes a template. What accounts make is counted (`QUOTAS.templates`) until somebody approves it. */
export type Maker = 'account' | 'operator';

/**
 * Registers a template that passed `templateFaults`. Throws `TemplateExists` when the account already has its id, and
 * `QuotaReached`.
 */
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

export interface Imported {
  readonly created: readonly string[];
  /** Ids that the account already had: they stay as they are. */
  readonly known: readonly string[];
}

/**
 * Registers what an account asks for itself: everything that it does not have yet, or nothing. May be repeated after a failure. Throws
 * `QuotaReached` when there is no place for all of it. If others take the last places at the same moment, some of it may be stored by
 * then: a repeated call finds it.
 */
export async function importRequests(
  db: Db,
  clock: Clock,
  account: AccountId,
  given: readonly NewTemplate[],
): Promise<Imported> {
  const now = clock.now();
  const { created, known } = await wouldImport(db, account, given);
  const documents = new Map(given.map((template) => [template.dltId, documentOf(account, template, now)]));
  for (let missing = created; missing.length > 0; ) {
    const places = await roomFor(db, 'templates', account, missing.length);
    const placed = missing.map((id, n) => ({ ...documents.get(id), place: places[n] }));
    await insertNew(db, 'templates', placed); // A duplicate key: the template is there, or somebody else took its place.
    missing = (await wouldImport(db, account, given)).created;
  }
  await raiseVersion(db, account);
  return { created, known };
}

/** What an import would do. Throws `QuotaReached`. */
export async function tryImport(
  db: Db,
  account: AccountId,
  given: readonly NewTemplate[],
  by: Maker,
): Promise<Imported> {
  const imported = await wouldImport(db, account, given);
  if (by === 'account') await roomFor(db, 'templates', account, imported.created.length);
  return imported;
}

async function wouldImport(db: Db, account: AccountId, given: readonly NewTemplate[]): Promise<Imported> {
  const ids = [...new Set(given.map(({ dltId }) => dltId))];
  const there = await readApprovals(
    db,
    ids.map((id) => templateKey(account, id)),
  );
  const isKnown = (id: string): boolean => there.has(templateKey(account, id));
  return { created: ids.filter((id) => !isKnown(id)), known: ids.filter(isKnown) };
}

/** Registers what an operator brings. May be repeated after a failure: existing ones are only counted. */
export async function importTemplates(
  db: Db,
  clock: Clock,
  account: AccountId,
  given: readonly NewTemplate[],
): Promise<Imported> {
  const now = clock.now();
  const created: string[] = [];
  const known: string[] = [];
  for (let i = 0; i < given.length; i += CHUNK) {
    const operations = given.slice(i, i + CHUNK).map((template) => {
      const { _id, ...rest } = documentOf(account, template, now);
      return { updateOne: { filter: { _id }, update: { $setOnInsert: rest }, upsert: true } };
    });
    const { upsertedIds } = await templates(db).bulkWrite(operations, { ordered: false });
    for (const [j, template] of given.slice(i, i + CHUNK).entries())
      (j in upsertedIds ? created : known).push(template.dltId);
  }
  await raiseVersion(db, account);
  return { created, known };
}

/**
 * `decided`: the status changed. `unchanged`: it had this status before. `changed`: the text is no longer what was read.
 * `not_found`: the account has no such template.
 */
export type Decision = 'decided' | 'unchanged' | 'changed' | 'not_found';

/**
 * One atomic update from the states that `MAY_BECOME` allows; it also says what webhooks have to be told, and an approval frees the
 * place. Processes that match
 * texts see it seconds later. `read`: the text that the operator has read; if the stored one differs, nothing is decided.
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
      $push: { owed: { told: status, status, ...said, at } },
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

/** Both arrays are compared whole, in their order. */
function textOf({ content, senders, routes, entityId }: TemplateText): Filter<TemplateDocument> {
  return { content, senders, routes, entityId: entityId ?? { $exists: false } };
}

/** Pauses a template (its messages wait) or resumes it; workers see it within seconds. False when there is none. Idempotent. */
export async function setTemplatePaused(db: Db, account: AccountId, dltId: string, paused: boolean): Promise<boolean> {
  const { matchedCount } = await templates(db).updateOne(
    { _id: templateKey(account, dltId) },
    paused ? { $set: { paused: true } } : { $unset: { paused: '' } },
  );
  return matchedCount === 1;
}

/** DLT ids of paused templates, by account. */
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

/** Whether a template may be used, and for what. */
export type TemplateApproval = Pick<TemplateDocument, '_id' | 'status' | 'senders' | 'routes'>;

/** Those of many templates, by one read. Templates that do not exist are left out. */
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

/** Whether an account has an approved template of which this is true. */
export async function hasApproved(
  db: Db,
  account: AccountId,
  filter: Pick<Filter<TemplateDocument>, 'senders' | 'entityId'>,
): Promise<boolean> {
  const found = await templates(db).findOne({ account, status: 'approved', ...filter }, { projection: { _id: 1 } });
  return found !== null;
}

/** An account's templates, by id, behind `after`; only those of a status when one is given. Without `limit` all. */
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

function documentOf(account: AccountId, template: NewTemplate, now: Date): TemplateDocument {
  const { dltId, name, senders, routes, entityId, content, slots, status, category, requested, request, owed } =
    template;
  return {
    _id: templateKey(account, dltId),
    account,
    dltId,
    name,
    senders,
    routes,
    ...(entityId === undefined ? {} : { entityId }),
    content,
    ...(slots === undefined ? {} : { slots }),
    status,
    ...(category === undefined ? {} : { category }),
    ...(requested === undefined ? {} : { requested }),
    ...(request === undefined ? {} : { request }),
    ...(owed === undefined ? {} : { owed }),
    createdAt: now,
    ...(status === 'submitted' ? {} : { decidedAt: now }),
  };
}

function templates(db: Db): Collection<TemplateDocument> {
  return db.collection('templates');
}
