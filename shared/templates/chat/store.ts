import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { withinQuota } from '../../money/accounts/quotas.ts';
import { systemClock } from '../../platform/runtime/clock.ts';
import { defined } from '../../platform/runtime/defined.ts';
import type { AccountId, RequestId } from '../../platform/runtime/ids.ts';
import {
  ALL_ANNOUNCED,
  type ChatTemplateDocument,
  type ChatTemplateRequestDocument,
  type ChatTemplateStatus,
  chatTemplateId,
  type TemplateOwner,
  unannouncedOf,
} from './chat-template.ts';

export async function findChatTemplate(
  db: Db,
  owner: TemplateOwner,
  name: string,
  language: string,
): Promise<ChatTemplateDocument | undefined> {
  return (await templates(db).findOne({ _id: chatTemplateId(owner, name, language) })) ?? undefined;
}

export async function findChatTemplates(
  db: Db,
  ids: readonly TemplateId[],
): Promise<ReadonlyMap<TemplateId, ChatTemplateDocument>> {
  const found = await templates(db)
    .find({ _id: { $in: [...ids] } })
    .toArray();
  return new Map(found.map((template) => [template._id, template]));
}

/** Templates of any status, sorted by business account, name and language. */
export async function listChatTemplates(db: Db, account: AccountId): Promise<readonly ChatTemplateDocument[]> {
  return templates(db)
    .find({ _id: idsOf(account) })
    .sort({ _id: 1 })
    .toArray();
}

/** The fields that the list shows, by name and language; in chunks. The texts, which may be long, are not read. */
export async function* readTemplateStatuses(
  db: Db,
  { account, business }: TemplateOwner,
  after = '',
  limit = 0,
): AsyncGenerator<Pick<ChatTemplateDocument, 'name' | 'status' | 'language'>> {
  const projection = { name: 1, status: 1, language: 1 };
  const { $gt, $lt } = idsOf(account, business);
  const all = templates(db)
    // Only compared with: no id ends in a colon.
    .find({ _id: { $gt: `${$gt}${after}` as TemplateId, $lt } }, { projection, batchSize: GROUP })
    .sort({ _id: 1 })
    .limit(limit); // 0: all
  for await (const { name, status, language } of all) yield { name, status, language };
}

export function countListed(db: Db, { account, business }: TemplateOwner): Promise<number> {
  return templates(db).countDocuments({ _id: idsOf(account, business) });
}

/** The account's templates of this name, of any status: at most twenty business accounts with languages. */
export async function placesOf(
  db: Db,
  account: AccountId,
  name: string,
): Promise<readonly Pick<ChatTemplateDocument, 'business' | 'language'>[]> {
  return templates(db)
    .find({ _id: idsOf(account), name }, { projection: { _id: 0, business: 1, language: 1 } })
    .sort({ _id: 1 })
    .limit(PLACES_MAX)
    .toArray();
}

const PLACES_MAX = 20;

/** Templates written by one command, which takes a few milliseconds. */
const GROUP = 250;

type Known = Pick<ChatTemplateDocument, 'status' | 'statusAt' | 'reason'>;

/**
 * Replaces the templates of one of the account's business accounts by the provider's current list: new and changed ones
 * are written, others removed, also those of business accounts not among `businesses`, which the account has no longer.
 * Not atomic, but a template that stays is never missing. May be repeated. The list was read from `begunAt` on, so it
 * decides nothing about a status that changed later. Changes of a status are announced; for a template that is new here
 * only if the account asked for it.
 */
export async function replaceChatTemplates(
  db: Db,
  { account, business }: TemplateOwner,
  listed: readonly ChatTemplateDocument[],
  begunAt = systemClock.now(),
  businesses: readonly string[] = [business],
): Promise<void> {
  for (const group of inGroups(listed)) await replaceListed(db, group, begunAt);
  const stays = new Set<TemplateId>(listed.map(({ _id }) => _id));
  const stored = templates(db).find({ _id: idsOf(account) }, { projection: { business: 1 }, batchSize: GROUP });
  const gone: TemplateId[] = [];
  for await (const { _id, business: of } of stored) {
    if (of === business ? !stays.has(_id) : !businesses.includes(of)) gone.push(_id);
  }
  // Not removed now: templates whose status changed since the list was read, or that still have something to announce.
  // A later list removes them.
  const settled = { statusAt: { $not: { $gte: begunAt } }, ...ALL_ANNOUNCED };
  for (const group of inGroups(gone)) await templates(db).deleteMany({ _id: { $in: group }, ...settled });
}

/** Writes templates as the provider listed them from `begunAt` on; removes none. */
export async function replaceListed(db: Db, group: readonly ChatTemplateDocument[], begunAt: Date): Promise<void> {
  const ids = group.map(({ _id }) => _id);
  const known = await readKnown(db, ids);
  const asked = await readAsked(
    db,
    ids.filter((id) => !known.has(id)),
  );
  await templates(db).bulkWrite(
    group.map((template) => writeOf(template, known.get(template._id), asked.has(template._id), begunAt)),
    { ordered: false },
  );
}

async function readKnown(db: Db, ids: readonly TemplateId[]): Promise<ReadonlyMap<TemplateId, Known>> {
  const found = await templates(db)
    .find({ _id: { $in: [...ids] } }, { projection: { status: 1, statusAt: 1, reason: 1 } })
    .toArray();
  return new Map(found.map((one) => [one._id, one]));
}

async function readAsked(db: Db, ids: readonly TemplateId[]): Promise<ReadonlySet<TemplateId>> {
  if (ids.length === 0) return new Set();
  const found = await db
    .collection<Pick<ChatTemplateDocument, '_id'>>('chat_template_requests')
    .find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}

function writeOf(
  { _id, status, reason, ...template }: ChatTemplateDocument,
  known: Known | undefined,
  asked: boolean,
  begunAt: Date,
): AnyBulkWriteOperation<ChatTemplateDocument> {
  const said = reason === undefined ? {} : { reason };
  if (known === undefined) {
    const unannounced = asked ? unannouncedOf(undefined, status, reason, begunAt) : [];
    const since = asked ? { statusAt: begunAt } : {};
    const fresh = { ...template, status, ...said, ...since, ...(unannounced.length > 0 && { unannounced }) };
    // If another process has stored it since we looked, its document is newer and stays.
    return { updateOne: { filter: { _id }, update: { $setOnInsert: fresh }, upsert: true } };
  }
  const gone = { ...unlessListed('components', template), ...unlessListed('unsendable', template) };
  const unset = Object.keys(gone).length > 0 ? { $unset: gone } : {};
  const stale = known.statusAt !== undefined && known.statusAt >= begunAt;
  if (stale || known.status === status) {
    // A stored reason stays: a callback's may say more than the list's.
    const more = !stale && known.reason === undefined ? said : {};
    return { updateOne: { filter: { _id }, update: { $set: { ...template, ...more }, ...unset } } };
  }
  const unannounced = unannouncedOf(known.status, status, reason, begunAt);
  return {
    updateOne: {
      // Matches nothing if a callback has changed the status since it was read.
      filter: { _id, status: known.status, statusAt: known.statusAt ?? { $exists: false } },
      update: {
        $set: { ...template, status, statusAt: begunAt, ...said },
        $unset: { ...gone, ...(reason === undefined ? { reason: '' as const } : {}) },
        ...(unannounced.length > 0 && { $push: { unannounced: { $each: [...unannounced] } } }),
      },
    },
  };
}

function unlessListed(name: 'components' | 'unsendable', template: Partial<ChatTemplateDocument>): Record<string, ''> {
  return template[name] === undefined ? { [name]: '' } : {};
}

function inGroups<T>(all: readonly T[]): readonly T[][] {
  return Array.from({ length: Math.ceil(all.length / GROUP) }, (_, i) => all.slice(i * GROUP, (i + 1) * GROUP));
}

interface TemplateNews {
  readonly status?: ChatTemplateStatus;
  readonly toldAt?: Date;
  readonly reason?: string;
  readonly quality?: string;
  readonly category?: string;
}

/**
 * Stores news about a template, until the provider is asked again; a change of its status is announced once. False when
 * there is no such template. News with an earlier `toldAt` than stored changes nothing: the provider's posts may
 * overtake each other.
 */
export async function noteChatTemplate(
  db: Db,
  owner: TemplateOwner,
  name: string,
  language: string,
  { status, reason, ...more }: TemplateNews,
  at: Date,
): Promise<boolean> {
  const _id = chatTemplateId(owner, name, language);
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const known = await templates(db).findOne({ _id }, { projection: { status: 1, toldAt: 1 } });
    if (known === null) return false;
    if (more.toldAt !== undefined && known.toldAt !== undefined && more.toldAt < known.toldAt) return true;
    const changes = status !== undefined && status !== known.status;
    const unannounced = changes ? unannouncedOf(known.status, status, reason, at) : [];
    // `statusAt` is set also when the status stays: a list that was read earlier must not set it back.
    const set = { ...more, ...(status && { status, statusAt: at }), ...(reason !== undefined && { reason }) };
    const { matchedCount } = await templates(db).updateOne(
      { _id, status: known.status, toldAt: known.toldAt ?? { $exists: false } },
      {
        $set: { account: owner.account, ...set },
        ...(changes && reason === undefined && { $unset: { reason: '' } }),
        ...(unannounced.length > 0 && { $push: { unannounced: { $each: [...unannounced] } } }),
      },
    );
    if (matchedCount === 1) return true;
  }
  throw new Error(`the status of ${_id} changed ${TRIES_MAX} times at once`);
}
const TRIES_MAX = 10;

/** At most one write a minute: the provider may say it of each message. */
const HELD_BACK_MS = 60_000;

export async function noteHeldBack(
  db: Db,
  owner: TemplateOwner,
  name: string,
  language: string,
  heldBack: NonNullable<ChatTemplateDocument['heldBack']>,
): Promise<void> {
  const before = new Date(heldBack.at.getTime() - HELD_BACK_MS);
  await templates(db).updateOne(
    { _id: chatTemplateId(owner, name, language), 'heldBack.at': { $not: { $gte: before } } },
    { $set: { heldBack } },
  );
}

/** For one business account or all; by business account, name and language. */
export async function listChatTemplatePage(
  db: Db,
  account: AccountId,
  filter: { readonly [_ in 'business' | 'language' | 'status']?: string | undefined },
  after: string | undefined,
  limit: number,
): Promise<readonly ChatTemplateDocument[]> {
  const { business, language, status } = filter;
  return templates(db)
    .find({ _id: idsOf(account, business, after), ...defined({ language, status }) })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/** A range of `_id`, so no further index is needed. The semicolon is the character after the colon. */
function idsOf(
  account: AccountId,
  business?: string,
  after?: string,
): { readonly $gt: TemplateId; readonly $lt: TemplateId } {
  const owner = business === undefined ? account : `${account}:${business}`;
  // The ends are not ids themselves: one sorts before all ids of the owner, the other after them.
  const $gt = after === undefined ? `${owner}:` : `${account}:${after}`;
  return { $gt: $gt as TemplateId, $lt: `${owner};` as TemplateId };
}

type TemplateId = ChatTemplateDocument['_id'];

function templates(db: Db): Collection<ChatTemplateDocument> {
  return db.collection('chat_templates');
}

type Id = ChatTemplateRequestDocument['_id'];
type Wish = Omit<ChatTemplateRequestDocument, 'due' | 'askedAt' | 'tries' | 'refusal' | 'unannounced' | 'place'>;

/**
 * Replaces what the account wanted of a template before. False when the provider may already have been asked for the
 * earlier wish and has not answered: that answer must come first. Throws `QuotaReached` for one template more than an
 * account may ask for; one that the provider has may always be edited and deleted.
 */
export async function wishChatTemplate(db: Db, wish: Wish): Promise<boolean> {
  const { _id, ...rest } = wish;
  const earlier = await requests(db).findOne({ _id }, { projection: { request: 1, due: 1, askedAt: 1 } });
  const document = { ...rest, due: wish.requestedAt, tries: 0 };
  if (earlier === null) {
    const store = async (more: { readonly place?: number }): Promise<boolean> => {
      const fresh = { ...document, ...more };
      const { upsertedCount } = await requests(db).updateOne({ _id }, { $setOnInsert: fresh }, { upsert: true });
      return upsertedCount === 1;
    };
    if (wish.wants !== 'create') return store({});
    return withinQuota(db, 'chat_template_requests', wish.account, (place) => store({ place }));
  }
  if (earlier.due !== undefined && earlier.askedAt !== undefined) return false;
  // What was never asked for may be replaced while it waits; the worker marks it before it asks.
  const { matchedCount } = await requests(db).updateOne(
    { _id, request: earlier.request, $or: [{ due: { $exists: false } }, { askedAt: { $exists: false } }] },
    // Everything but `unannounced`: the end of the wish before is still to be announced.
    { $set: document, $unset: { askedAt: '', refusal: '', ...(wish.draft === undefined ? { draft: '' } : {}) } },
  );
  return matchedCount === 1;
}

/** Only if the provider lacks the template. False while it may still do it, or something is unannounced. */
export async function dropRequest(db: Db, id: Id): Promise<boolean> {
  const { deletedCount } = await requests(db).deleteOne({
    _id: id,
    ...ALL_ANNOUNCED,
    $or: [{ wants: 'create', askedAt: { $exists: false } }, { due: { $exists: false } }],
  });
  return deletedCount === 1;
}

export async function findChatTemplateRequests(
  db: Db,
  ids: readonly Id[],
): Promise<ReadonlyMap<Id, ChatTemplateRequestDocument>> {
  const found = await requests(db)
    .find({ _id: { $in: [...ids] } })
    .toArray();
  return new Map(found.map((request) => [request._id, request]));
}

/** Undefined once a later request for the same template has replaced it. */
export async function findByRequest(
  db: Db,
  account: AccountId,
  request: RequestId,
): Promise<ChatTemplateRequestDocument | undefined> {
  return (await requests(db).findOne({ _id: idsOf(account), request })) ?? undefined;
}

/** For one business account or all; by business account, name and language. */
export async function listChatTemplateRequests(
  db: Db,
  account: AccountId,
  { business, language, after }: { readonly [_ in 'business' | 'language' | 'after']?: string | undefined },
  limit: number,
): Promise<readonly ChatTemplateRequestDocument[]> {
  return requests(db)
    .find({ _id: idsOf(account, business, after), ...defined({ language }) })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/** By account id, oldest first within an account; none for the business accounts in `without`. */
export async function dueChatTemplateRequests(
  db: Db,
  accounts: readonly AccountId[],
  without: readonly string[],
  now: Date,
  limit: number,
): Promise<readonly ChatTemplateRequestDocument[]> {
  if (accounts.length === 0) return [];
  return requests(db)
    .find({
      account: { $in: [...accounts] },
      due: { $lte: now },
      ...(without.length > 0 && { business: { $nin: [...without] } }),
    })
    .sort({ account: 1, due: 1 })
    .limit(limit)
    .toArray();
}

/** Call it before the provider is asked. False when the account wants something else now. */
export async function markAsked(db: Db, { _id, request }: ChatTemplateRequestDocument, now: Date): Promise<boolean> {
  const { matchedCount } = await requests(db).updateOne(
    { _id, request, due: { $exists: true } },
    { $set: { askedAt: now } },
  );
  return matchedCount === 1;
}

/** The provider could not be asked, or did not say: ask again at `due`, after a look into its list. */
export async function askLater(db: Db, { _id, request }: ChatTemplateRequestDocument, due: Date): Promise<void> {
  await requests(db).updateOne({ _id, request, due: { $exists: true } }, { $set: { due }, $inc: { tries: 1 } });
}

export async function finishRequest(db: Db, { _id, request }: ChatTemplateRequestDocument): Promise<void> {
  await requests(db).updateOne({ _id, request }, { $unset: { due: '', askedAt: '', refusal: '' } });
}

/** The refusal of a new template is announced; a change's refusal the account learns only when it looks. */
export async function refuseRequest(
  db: Db,
  { _id, request, wants }: ChatTemplateRequestDocument,
  reason: string,
  at: Date,
): Promise<void> {
  await requests(db).updateOne(
    { _id, request, due: { $exists: true } },
    {
      $set: { refusal: reason },
      $unset: { due: '', askedAt: '' },
      ...(wants === 'create' ? { $push: { unannounced: { event: 'rejected', status: 'rejected', reason, at } } } : {}),
    },
  );
}

/** The template is gone at the provider. False while something of it is still to be announced: ask again then. */
export async function forgetTemplate(db: Db, { _id, request }: ChatTemplateRequestDocument): Promise<boolean> {
  const templates = db.collection<ChatTemplateDocument>('chat_templates');
  await templates.deleteOne({ _id, ...ALL_ANNOUNCED });
  if ((await templates.countDocuments({ _id })) > 0) return false;
  const { deletedCount } = await requests(db).deleteOne({ _id, request, ...ALL_ANNOUNCED });
  return deletedCount === 1;
}

function requests(db: Db): Collection<ChatTemplateRequestDocument> {
  return db.collection('chat_template_requests');
}
