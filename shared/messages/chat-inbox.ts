import type { Collection, Db } from 'mongodb';
import type { Profile } from '../money/conversations/conversation.ts';
import { findAtOnce } from '../platform/mongo/find-one.ts';
import { insertNew } from '../platform/mongo/insert-new.ts';
import { msAfter } from '../platform/mongo/store-time.ts';
import type { AccountId } from '../platform/runtime/ids.ts';
import type { BusinessNumber, Pricing } from './document/chat-message.ts';

/**
 * The largest item: 4,096 values, or 64 KB with 2,048 values. Far more than providers send: a text has at most 4,096
 * characters, a caption 1,024 (WhatsApp Cloud API, Messages reference).
 */
export const ITEM_WEIGHT_MAX = 131_072;

/**
 * One message, status, template change or customer's wish that a provider posted to the callback. Stored before the
 * post is answered. After processing it stays without `due` until it expires. `_id` derives from the content, so a
 * repeated post adds nothing, even after the item was processed.
 */
export interface InboxItemDocument {
  /** By `itemId`: with the provider's id of the message for messages and statuses, else with a hash of the content. */
  readonly _id: string;
  readonly account: AccountId;
  readonly at: Date;
  /** When to process it (again). Unset once processed; the item then only serves to recognize a repeated post. */
  readonly due?: Date;
  readonly tries: number;
  readonly what: InboundItem | StatusItem | TemplateItem | PreferenceItem;
  /** At most `ITEM_WEIGHT_MAX`: its characters, plus 32 for each value. Limits what is read or written at once. */
  readonly weight: number;
  /** Set only once it is processed, so that nothing we answered with 200 is lost unread. */
  readonly expiresAt?: Date;
}

export interface InboundItem {
  readonly kind: 'message';
  readonly number: BusinessNumber;
  readonly upstreamId: string;
  readonly from: string | null;
  /** The provider's other information about who wrote it. */
  readonly who?: Profile;
  readonly sentAt: Date;
  readonly type: string;
  readonly body: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface TemplateItem {
  readonly kind: 'template';
  readonly business: string;
  readonly name: string;
  readonly language: string;
  /** Absent when the status did not change, or only the provider's list tells it. */
  readonly status?: string;
  /** By the provider's clock, in whole seconds. Absent when the status did not change, or the time is unknown. */
  readonly toldAt?: Date;
  readonly reason?: string;
  readonly quality?: string;
  readonly category?: string;
}

export interface PreferenceItem {
  readonly kind: 'preference';
  readonly customer: string;
  readonly who?: Profile;
  readonly wish: 'stopped' | 'resumed';
  /** By the provider's clock, not in the future. */
  readonly toldAt: Date;
}

export interface StatusItem {
  readonly kind: 'status';
  readonly upstreamId: string;
  /** Our message id, when the provider returns what the send carried (`biz_opaque_callback_data`). */
  readonly ours?: string;
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
  /** The customer's number as the provider knows it, digits. Absent when it says none. */
  readonly recipient?: string;
  readonly who?: Profile;
  readonly at: Date;
  readonly error?: { readonly code: number; readonly title: string; readonly details?: string };
  readonly pricing?: Pricing;
}

/** `id` is unique among items of this kind, and derives from the content, so a repeated post adds nothing. */
export function itemId(
  account: AccountId,
  kind: 'in' | 'template' | 'preference' | StatusItem['status'],
  id: string,
): string {
  return `${account}:${kind}:${id}`;
}

/** Most items per command. A post of 3 MB can bring 26,000 items; it must not block this process or the store. */
const SLICE = 250;
/** Most weight per command: 16,000 values, written or read in a few milliseconds. */
const SLICE_WEIGHT = 524_288;
/** Longer than a provider repeats a post: up to seven days (WhatsApp Cloud API, Webhooks: retries). */
const KEPT_MS = 8 * 86_400_000;

/** Items that exist stay as they are, processed or not. May be repeated after a failure. */
export async function keepItems(db: Db, items: readonly InboxItemDocument[]): Promise<void> {
  for (let rest = items; rest.length > 0; ) {
    const slice = lightest(rest.slice(0, SLICE));
    await insertNew(db, 'chat_inbox', slice);
    rest = rest.slice(slice.length);
  }
}

/** The fields that are read first, before the whole item. */
type Head = Pick<InboxItemDocument, '_id' | 'account' | 'due' | 'weight'>;

/** By account id, then due time; fewer than `limit` if heavy. `more`: others follow, even of the last account. */
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

/** The items among `ids` that are still to be processed, due now or later. */
export async function openItems(db: Db, ids: readonly string[]): Promise<readonly InboxItemDocument[]> {
  return inbox(db)
    .find({ _id: { $in: [...ids] }, due: { $exists: true } })
    .toArray();
}

/** The statuses among `ids` that say something of the price, processed or not. */
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

/** The first items up to `SLICE_WEIGHT`, but at least one. */
function lightest<T extends Pick<InboxItemDocument, 'weight'>>(items: readonly T[]): readonly T[] {
  let weight = 0;
  const end = items.findIndex((item, i) => {
    weight += item.weight;
    return weight > SLICE_WEIGHT && i > 0;
  });
  return end === -1 ? items : items.slice(0, end);
}

/** Marks items as processed. They are kept as long as the provider may post them again. Idempotent. */
export async function finishItems(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await inbox(db).updateMany({ _id: { $in: [...ids] } }, [
    { $set: { expiresAt: msAfter('$at', KEPT_MS) } },
    { $unset: 'due' },
  ]);
}

/** Tries the item again at `due`. An item that is processed already is not changed. */
export async function retryItem(db: Db, id: string, due: Date): Promise<void> {
  await inbox(db).updateOne({ _id: id, due: { $exists: true } }, { $set: { due }, $inc: { tries: 1 } });
}

function inbox(db: Db): Collection<InboxItemDocument> {
  return db.collection('chat_inbox');
}
