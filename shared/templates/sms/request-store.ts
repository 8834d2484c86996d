import type { Collection, Db } from 'mongodb';
import { QuotaReached, withinQuota } from '../../money/accounts/quotas.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type AccountId, isTemplateRequestId, type TemplateRequestId } from '../../platform/runtime/ids.ts';
import { createTemplate, findTemplate, type Maker, TemplateExists } from './store.ts';
import { ALL_ANNOUNCED, type TemplateDocument, type TemplateRequestDocument } from './template.ts';

export type NewTemplateRequest = Omit<
  TemplateRequestDocument,
  'status' | 'createdAt' | 'dltId' | 'reason' | 'decidedAt' | 'place'
>;

/** Throws `QuotaReached`. */
export async function createTemplateRequest(
  db: Db,
  clock: Clock,
  request: NewTemplateRequest,
): Promise<TemplateRequestDocument> {
  return withinQuota(db, 'template_requests', request.account, async (place) => {
    const document: TemplateRequestDocument = { ...request, status: 'requested', place, createdAt: clock.now() };
    await requests(db).insertOne(document);
    return document;
  });
}

/** Undefined as well for a request that has become a template. */
export async function findTemplateRequest(
  db: Db,
  clock: Clock,
  account: AccountId,
  id: TemplateRequestId,
): Promise<TemplateRequestDocument | undefined> {
  const found = await requests(db).findOne({ _id: id, account });
  const [open] = await finishNamed(db, clock, found === null ? [] : [found]);
  return open;
}

/** Newest first, older than `before`. */
export async function listTemplateRequests(
  db: Db,
  clock: Clock,
  account: AccountId,
  filter: { readonly status?: TemplateRequestDocument['status'] | undefined },
  before: TemplateRequestId | undefined,
  limit: number,
): Promise<readonly TemplateRequestDocument[]> {
  const status = filter.status === undefined ? {} : { status: filter.status };
  const older = before === undefined ? {} : { _id: { $lt: before } };
  const found = await requests(db)
    .find({ account, ...older, ...status })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
  return finishNamed(db, clock, found);
}

/** A rejected request gets another text and waits again, from now on. False when it is none. */
export async function resubmitRequest(
  db: Db,
  clock: Clock,
  account: AccountId,
  id: TemplateRequestId,
  text: Partial<Pick<TemplateRequestDocument, 'name' | 'senders' | 'routes' | 'category' | 'content'>>,
): Promise<boolean> {
  const { matchedCount } = await requests(db).updateOne(
    { _id: id, account, status: 'rejected' },
    { $set: { ...text, status: 'requested', createdAt: clock.now() }, $unset: { reason: '', decidedAt: '' } },
  );
  return matchedCount === 1;
}

/** Only one that has no id, and of which everything is announced. Returns whether it was removed. */
export async function removeTemplateRequest(db: Db, account: AccountId, id: TemplateRequestId): Promise<boolean> {
  const { deletedCount } = await requests(db).deleteOne({
    _id: id,
    account,
    dltId: { $exists: false },
    ...ALL_ANNOUNCED,
  });
  return deletedCount === 1;
}

/** `false`: the account has no such request that waits. */
export async function rejectTemplateRequest(
  db: Db,
  clock: Clock,
  account: AccountId,
  id: TemplateRequestId,
  reason: string,
): Promise<boolean> {
  const at = clock.now();
  const { matchedCount } = await requests(db).updateOne(
    { _id: id, account, status: 'requested', dltId: { $exists: false } },
    {
      $set: { status: 'rejected', reason, decidedAt: at },
      $push: { unannounced: { event: 'rejected', status: 'rejected', reason, at } },
    },
  );
  return matchedCount === 1;
}

/**
 * A request gets its id and becomes a `submitted` template. The request decides, by its `dltId`; the template follows,
 * and whoever reads the request later finishes that. Undefined when the account has no such request that waits. Throws
 * `TemplateExists` when the account has the id already, and `QuotaReached` when the account gives the id itself and has
 * no place for the template.
 */
export async function giveDltId(
  db: Db,
  clock: Clock,
  account: AccountId,
  id: TemplateRequestId,
  dltId: string,
  by: Maker,
): Promise<TemplateDocument | undefined> {
  const earlier = await findTemplate(db, account, dltId);
  if (earlier !== undefined) {
    if (earlier.request === id) return earlier; // a repeated call
    throw new TemplateExists(`template ${dltId} is already registered to ${account}`);
  }
  const request = await requests(db).findOneAndUpdate(
    { _id: id, account, status: 'requested', dltId: { $exists: false } },
    { $set: { dltId } },
    { returnDocument: 'after' },
  );
  if (request === null) return undefined;
  return becomeTemplate(db, clock, request, dltId, by);
}

/** Makes the templates of the requests that have their ids; returns the others, and whatever is no request. */
export async function finishNamed<One extends { readonly _id: string }>(
  db: Db,
  clock: Clock,
  found: readonly (One | TemplateRequestDocument)[],
): Promise<readonly One[]> {
  const others: One[] = [];
  for (const one of found) {
    if (!isNamed(one)) others.push(one as One);
    else await becomeTemplate(db, clock, one, one.dltId, 'account').catch(ignoreNoRoom);
  }
  return others;
}

type Named = TemplateRequestDocument & { readonly dltId: string };

function isNamed(one: { readonly _id: string; readonly dltId?: string }): one is Named {
  return isTemplateRequestId(one._id) && one.dltId !== undefined;
}

/** Without the id or a place, the request waits on. Its pending announcements go with the template. */
async function becomeTemplate(
  db: Db,
  clock: Clock,
  { _id, account, name, senders, routes, entityId, content, category, unannounced }: TemplateRequestDocument,
  dltId: string,
  by: Maker,
): Promise<TemplateDocument> {
  const text = { dltId, name, senders, routes, entityId, content, category };
  const toTell = unannounced?.map((one) => ({ ...one, request: _id }));
  try {
    const wanted = { ...text, status: 'submitted', requested: true, request: _id, unannounced: toTell } as const;
    await createTemplate(db, clock, account, wanted, by);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    if ((await findTemplate(db, account, dltId))?.request !== _id) {
      await requests(db).updateOne({ _id }, { $unset: { dltId: '' } });
      throw error;
    }
  }
  await requests(db).deleteOne({ _id });
  const template = await findTemplate(db, account, dltId);
  if (template === undefined) throw new Error(`template ${dltId} of ${account} has gone`);
  return template;
}

function isNoRoom(error: unknown): boolean {
  return error instanceof TemplateExists || error instanceof QuotaReached;
}

function ignoreNoRoom(error: unknown): void {
  if (!isNoRoom(error)) throw error;
}

function requests(db: Db): Collection<TemplateRequestDocument> {
  return db.collection('template_requests');
}
