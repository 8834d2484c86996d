import type { Collection, Db } from 'mongodb';
import { findAtOnce } from '../platform/mongo/find-one.ts';
import { insertNew } from '../platform/mongo/insert-new.ts';
import { msAfter } from '../platform/mongo/store-time.ts';
import type { AccountId } from '../platform/runtime/ids.ts';
import type { InboxItemDocument, StatusItem } from './chat-inbox-item.ts';

/** Most items per command. A post of 3 MB can bring 26,000 items; it must not block this process or the store. */
const SLICE = 250;
/** Most weight per command: 16,000 values, which are written or read in a few milliseconds. */
const SLICE_WEIGHT = 524_288;
/**
 * Processed items are kept longer than a provider repeats a post, which is up to seven days (WhatsApp Cloud API, Webhooks:
 * retries).
 */
const KEPT_MS = 8 * 86_400_000;

/**
 * Stores what a provider posted. Items that exist stay as they are, processed or not, so a repeated post adds nothing. May be
 * repeated after a failure.
 */
export async function keepItems(db: Db, items: readonly InboxItemDocument[]): Promise<void> {
  for (let rest = items; rest.length > 0; ) {
    const slice = lightest(rest.slice(0, SLICE));
    await insertNew(db, 'chat_inbox', slice);
    rest = rest.slice(slice.length);
  }
}

/** The fields that are read first, before the whole item. */
type Head = Pick<InboxItemDocument, '_id' | 'account' | 'due' | 'weight'>;

/**
 * Items of these accounts that are due. Sorted by account id, and within an account by due time. At most `limit`, and fewer when
 * they are heavy. `more`: others follow, perhaps of the last account too.
 */
export async function dueItems(
  db: Db,
  accounts: readonly AccountId[],
  now: Date,
  limit: number,
): Promise<{ readonly items: readonly InboxItemDocument[]; readonly more: boolean }> {
  if (accounts.length === 0) return { items: [], more: false };
  const heads = await findAtOnce<Head>(db, 'chat_inbox', {
    filter: { account: { $in: [...accounts] }, due: { $lte: now } },
    projection: { account: 1, due: 1, weight: 1 },
    sort: { account: 1, due: 1 },
    limit,
  });
  const taken = lightest(heads);
  if (taken.length === 0) return { items: [], more: false };
  const found = await findAtOnce<InboxItemDocument>(db, 'chat_inbox', {
    filter: { _id: { $in: taken.map(({ _id }) => _id) } },
    sort: { _id: 1 },
    limit: taken.length,
  });
  const byId = new Map(found.map((item) => [item._id, item]));
  const items = taken.flatMap(({ _id }) => byId.get(_id) ?? []);
  return { items, more: taken.length < heads.length || heads.length === limit };
}

/** The items among `ids` that are still to be processed, whether due now or put off. */
export async function openItems(db: Db, ids: readonly string[]): Promise<readonly InboxItemDocument[]> {
  return inbox(db)
    .find({ _id: { $in: [...ids] }, due: { $exists: true } })
    .toArray();
}

/** The statuses among `ids` that say something of the price, whether they are processed or not. */
export async function pricedStatuses(
  db: Db,
  ids: readonly string[],
): Promise<readonly { readonly _id: string; readonly what: StatusItem }[]> {
  if (ids.length === 0) return [];
  return inbox(db)
    .find<{ readonly _id: string; readonly what: StatusItem }>({ _id: { $in: [...ids] } }, { projection: { what: 1 } })
    .toArray()
    .then((found) => found.filter(({ what }) => what.pricing !== undefined));
}

/** Whether an item of this account that was due by then is still to be processed. */
export async function isBehind(db: Db, account: AccountId, by: Date): Promise<boolean> {
  return (await inbox(db).findOne({ account, due: { $lte: by } }, { projection: { _id: 1 } })) !== null;
}

/** The first items until their weight is enough, but at least one. */
function lightest<T extends Pick<InboxItemDocument, 'weight'>>(items: readonly T[]): readonly T[] {
  let weight = 0;
  const end = items.findIndex((item, i) => {
    weight += item.weight;
    return weight > SLICE_WEIGHT && i > 0;
  });
  return end === -1 ? items : items.slice(0, end);
}

/**
 * Marks items as processed. They are kept as long as the provider may post them again, so that they are not processed twice.
 * Idempotent.
 */
export async function finishItems(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await inbox(db).updateMany({ _id: { $in: [...ids] } }, [
    { $set: { expiresAt: msAfter('$at', KEPT_MS) } },
    { $unset: 'due' },
  ]);
}

/** The item cannot be processed yet and is tried again at `due`. An item that is processed already is not changed. */
export async function retryItem(db: Db, id: string, due: Date): Promise<void> {
  await inbox(db).updateOne({ _id: id, due: { $exists: true } }, { $set: { due }, $inc: { tries: 1 } });
}

function inbox(db: Db): Collection<InboxItemDocument> {
  return db.collection('chat_inbox');
}
