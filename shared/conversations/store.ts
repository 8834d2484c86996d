import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../mongo/errors.ts';
import type { AccountId, ConversationId } from '../runtime/ids.ts';
import { type ConversationDocument, type ConversationKey, conversationKey } from './conversation.ts';

export function conversationCollection(db: Db): Collection<ConversationDocument> {
  return db.collection('conversations');
}

/** Of the customers that have one. */
export async function readConversations(
  db: Db,
  keys: Iterable<ConversationKey>,
): Promise<Map<ConversationKey, ConversationDocument>> {
  const found = await conversationCollection(db)
    .find({ _id: { $in: [...new Set(keys)] } })
    .toArray();
  return new Map(found.map((conversation) => [conversation._id, conversation]));
}

/** That a customer wrote. */
export interface Inbound {
  readonly account: AccountId;
  /** Digits. */
  readonly customer: string;
  readonly at: Date;
}

/** Opens or prolongs sessions: `lastInboundAt` only rises, so the same again, or in another order, changes nothing. */
export async function recordInbound(db: Db, inbound: readonly Inbound[]): Promise<void> {
  const latest = new Map<ConversationKey, Inbound>();
  for (const one of inbound) {
    const key = conversationKey(one.account, one.customer);
    const known = latest.get(key);
    if (known === undefined || known.at < one.at) latest.set(key, one);
  }
  if (latest.size === 0) return;
  const updates = [...latest].map(([_id, { account, customer, at }]) => ({
    updateOne: {
      filter: { _id },
      update: { $max: { lastInboundAt: at }, $setOnInsert: { account, customer } },
      upsert: true,
    },
  }));
  await upsertAll(db, updates);
}

/** Makes the documents of customers that have none. */
export async function ensureConversations(
  db: Db,
  customers: readonly Pick<ConversationDocument, 'account' | 'customer'>[],
): Promise<void> {
  const updates = customers.map(({ account, customer }) => ({
    updateOne: {
      filter: { _id: conversationKey(account, customer) },
      update: { $setOnInsert: { account, customer } },
      upsert: true,
    },
  }));
  await upsertAll(db, updates);
}

/** Voided conversations that a customer's document remembers: far more than are refused within a message's validity. */
const VOIDED_MAX = 200;

/** Its opener was refused: it carries nothing any more. Idempotent. */
export async function voidConversation(db: Db, key: ConversationKey, id: ConversationId): Promise<void> {
  const $push = { voided: { $each: [id], $slice: -VOIDED_MAX } };
  const current = await conversationCollection(db).updateOne(
    { _id: key, 'current.id': id },
    { $unset: { current: '' }, $push },
  );
  // A newer one had followed: messages that rode in this one may still wait.
  if (current.matchedCount === 0) {
    await conversationCollection(db).updateOne({ _id: key, voided: { $ne: id } }, { $push });
  }
}

/** Upserts of one command: a callback of 3 MB can bring thousands of customers, and the store must not be held up by one. */
const SLICE = 250;

/** Two upserts of one new document can meet; the one that comes late finds it when it is asked again. */
async function upsertAll(db: Db, updates: readonly AnyBulkWriteOperation<ConversationDocument>[]): Promise<void> {
  for (let first = 0; first < updates.length; first += SLICE) {
    const slice = updates.slice(first, first + SLICE);
    const write = () => conversationCollection(db).bulkWrite(slice, { ordered: false });
    try {
      await write();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await write();
    }
  }
}
