import type { AnyBulkWriteOperation, Collection, Db, Filter, UpdateFilter } from 'mongodb';
import type { BusinessNumber } from '../../messages/document/chat-message.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { updateEach } from '../../platform/mongo/update-each.ts';
import { type AccountId, type ConversationId, customerId, type MessageId } from '../../platform/runtime/ids.ts';
import type { OpenConversation } from '../accounts/account.ts';
import type { Starter } from '../accounts/prices.ts';

/**
 * An account and one of its chat-app customers, with two different windows of 24 hours. A session runs from the
 * customer's last message to one of the account's numbers and decides what may be written from that number. The
 * conversation runs from our message that opened it and decides what has been paid, whatever number it is written from
 * (docs/decisions/0016, 0056).
 */
export interface ConversationDocument {
  readonly _id: ConversationKey;
  readonly account: AccountId;
  /** The number, digits; or the user id of a customer who shows none. */
  readonly customer: string;
  /** Other names of the same person with a document of their own (person.ts). The newest last. */
  readonly aliases?: readonly string[];
  /** Customer id, user ids without a document, user name after an @; each after the account's id, like `_id`. */
  readonly keys?: readonly ConversationKey[];
  /** Met first: `2026-11-22T10:00:00.000Z 919876543210`. The person's id derives from it. */
  readonly first?: string;
  /** The provider's newest information about the person under this name, and its time. */
  readonly profile?: Profile & { readonly at: Date };
  readonly leftAt?: Date;
  readonly linkedAt?: Date;
  /** Number of changes of these. Each is a compare-and-set on it (workers/chatapp/customers.ts). */
  readonly links?: number;
  /** Time of the customer's last message, to whatever number. It only rises. */
  readonly lastInboundAt?: Date;
  /** The customer's last wish about marketing. Absent: none. */
  readonly marketing?: { readonly stopped: boolean; readonly at: Date };
  /** Last message to each of the account's numbers, by its digits. */
  readonly sessions?: Readonly<Record<BusinessNumber, Date>>;
  /** The conversation that is paid for now, or was last. */
  readonly current?: OpenConversation;
  /** Number of the newest opening written here. This opening and earlier ones are never written again (pay.ts). */
  readonly openings?: number;
  /** The conversations that were refunded last: the provider accepted none of their messages. */
  readonly refunded?: readonly ConversationId[];
  /** Latest changes of openers, because the opener failed. A conversation's last entry counts. */
  readonly successors?: readonly Successor[];
  /** Number of decisions in `refunded` and `successors`: each is a compare-and-set on it (charge.ts). */
  readonly judged?: number;
}

/** `userId`: the person's id for this business; `parentId`: for a portfolio of businesses. */
export interface Profile {
  readonly number?: string;
  readonly userId?: string;
  readonly parentId?: string;
  readonly username?: string;
  readonly name?: string;
}

export interface Successor {
  readonly conversation: ConversationId;
  readonly opener: MessageId;
}

export type ConversationKey = `${AccountId}:${string}`;

export function conversationKey(account: AccountId, customer: string): ConversationKey {
  return `${account}:${customer}`;
}

/** "Free-form session window: 24 hours after the customer's last message" ("Limits"). */
export const SESSION_MS = 24 * 3_600_000;
const CONVERSATION_MS = 24 * 3_600_000;

export type Session = Pick<ConversationDocument, 'lastInboundAt'>;

/** When the customer's session ends, or ended; undefined when the customer never wrote. */
export function sessionUntil(conversation: Session | undefined): Date | undefined {
  const last = conversation?.lastInboundAt;
  return last === undefined ? undefined : new Date(last.getTime() + SESSION_MS);
}

/** Whether free-form messages may be written now. Outside the session only templates may. */
export function isSessionOpen(conversation: Session | undefined, now: Date): boolean {
  const until = sessionUntil(conversation);
  return until !== undefined && now < until;
}

/** Who counts as the starter if our message opens a conversation now. */
export function starterAt(conversation: Session | undefined, now: Date): Starter {
  return isSessionOpen(conversation, now) ? 'user' : 'business';
}

export function conversationUntil(openedAt: Date): Date {
  return new Date(openedAt.getTime() + CONVERSATION_MS);
}

export function conversationCollection(db: Db): Collection<ConversationDocument> {
  return db.collection('conversations');
}

export async function readConversations(
  db: Db,
  keys: Iterable<ConversationKey>,
): Promise<Map<ConversationKey, ConversationDocument>> {
  const found = await conversationCollection(db)
    .find({ _id: { $in: [...new Set(keys)] } })
    .toArray();
  return new Map(found.map((conversation) => [conversation._id, conversation]));
}

export interface Inbound {
  readonly account: AccountId;
  readonly customer: string;
  readonly number: BusinessNumber;
  readonly at: Date;
}

/** Opens or prolongs sessions. May be repeated, in any order. */
export async function recordInbound(db: Db, inbound: readonly Inbound[]): Promise<void> {
  const latest = new Map<string, Inbound>();
  for (const one of inbound) {
    const key = `${conversationKey(one.account, one.customer)} ${one.number}`;
    const known = latest.get(key);
    if (known === undefined || known.at < one.at) latest.set(key, one);
  }
  if (latest.size === 0) return;
  await upsertAll(db, [...latest.values()], ({ account, customer, number, at }) => ({
    updateOne: {
      filter: { _id: conversationKey(account, customer) },
      update: {
        $max: { lastInboundAt: at, [`sessions.${number}`]: at },
        $setOnInsert: newCustomer(account, customer, at),
      },
      upsert: true,
    },
  }));
}

/** Whichever number of the account it comes from. */
export interface MarketingWish extends Omit<Inbound, 'number'> {
  readonly stopped: boolean;
}

/** Keeps the newest wish of each customer. May be repeated, in any order. */
export async function recordMarketing(db: Db, wishes: readonly MarketingWish[]): Promise<void> {
  await ensureConversations(db, wishes);
  await updateEach(
    db,
    'conversations',
    wishes.map(({ account, customer, stopped, at }) => ({
      filter: {
        _id: conversationKey(account, customer),
        $or: [{ 'marketing.at': { $exists: false } }, { 'marketing.at': { $lt: at } }],
      },
      update: { $set: { marketing: { stopped, at } } },
    })),
  );
}

/** Not if they have written since. `stopped`: since when they want no marketing, which alone stays. */
export async function forgetCustomer(
  db: Db,
  { _id, account, customer, lastInboundAt }: ConversationDocument,
  stopped: Date | undefined,
): Promise<void> {
  const asRead = { _id, lastInboundAt: lastInboundAt ?? { $exists: false } };
  if (stopped === undefined) await conversationCollection(db).deleteOne(asRead);
  else {
    const marketing = { stopped: true, at: stopped };
    await conversationCollection(db).replaceOne(asRead, { ...newCustomer(account, customer, stopped), marketing });
  }
}

export async function listMarketingStops(
  db: Db,
  account: AccountId,
  after: string | undefined,
  limit: number,
): Promise<readonly ConversationDocument[]> {
  return conversationCollection(db)
    .find({ account, 'marketing.stopped': true, ...(after !== undefined && { customer: { $gt: after } }) })
    .sort({ customer: 1 })
    .hint('marketing_stops')
    .limit(limit)
    .toArray();
}

interface Met extends Pick<ConversationDocument, 'account' | 'customer'> {
  readonly at: Date;
}

export async function ensureConversations(db: Db, customers: readonly Met[]): Promise<void> {
  await upsertAll(db, customers, ({ account, customer, at }) => ({
    updateOne: {
      filter: { _id: conversationKey(account, customer) },
      update: { $setOnInsert: newCustomer(account, customer, at) },
      upsert: true,
    },
  }));
}

function newCustomer(account: AccountId, customer: string, at: Date) {
  const keys = [conversationKey(account, customerId(account, customer))];
  return { account, customer, first: firstMet(at, customer), keys };
}

export function firstMet(at: Date, name: string): string {
  return `${at.toISOString()} ${name}`;
}

/** Most refunds and successors kept: far more than can fail within a message's validity. */
const REMEMBERED_MAX = 200;

/** None of its messages was taken, and no message may go in it. False when another decision was made since the read. */
export async function markRefunded(db: Db, read: ConversationDocument, id: ConversationId): Promise<boolean> {
  const wasCurrent = read.current?.id === id;
  return decide(
    db,
    read,
    { 'current.id': wasCurrent ? id : { $ne: id } },
    {
      ...(wasCurrent && { $unset: { current: '' } }),
      $push: { refunded: { $each: [id], $slice: -REMEMBERED_MAX } },
    },
  );
}

/** Makes `successor` the opener, because the opener failed. False when another decision was made since the read. */
export async function passOn(db: Db, read: ConversationDocument, successor: Successor): Promise<boolean> {
  return decide(db, read, {}, { $push: { successors: { $each: [successor], $slice: -REMEMBERED_MAX } } });
}

/** Filters on the number of decisions, so that each is based on the state after the one before. */
async function decide(
  db: Db,
  { _id, judged }: ConversationDocument,
  only: Filter<ConversationDocument>,
  update: UpdateFilter<ConversationDocument>,
): Promise<boolean> {
  const { matchedCount } = await conversationCollection(db).updateOne(
    { _id, judged: judged ?? { $exists: false }, ...only },
    { ...update, $inc: { judged: 1 } },
  );
  return matchedCount > 0;
}

/** Most upserts per command. A callback of 3 MB can bring thousands of customers; it must not block the store. */
const SLICE = 250;

/** Two upserts may create the same document at once. The one that fails finds it when repeated. */
async function upsertAll<T>(
  db: Db,
  customers: readonly T[],
  updateOf: (customer: T) => AnyBulkWriteOperation<ConversationDocument>,
): Promise<void> {
  for (let first = 0; first < customers.length; first += SLICE) {
    const slice = customers.slice(first, first + SLICE).map(updateOf);
    const write = () => conversationCollection(db).bulkWrite(slice, { ordered: false });
    try {
      await write();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await write();
    }
  }
}
