import type { CreateIndexesOptions, Db } from 'mongodb';
import { isIndexNotFound } from './errors.ts';

/**
 * Every index of the product with the query that it serves. Every index on `messages` costs writes, several per message: add one
 * only with a measurement.
 */
interface Index {
  readonly collection: string;
  readonly key: Readonly<Record<string, 1 | -1>>;
  readonly options: CreateIndexesOptions & { readonly name: string };
  readonly serves: string;
}

/** States that few messages of an account have. A delivered message was in none of them. */
export const RARE_STATES = ['failed', 'expired', 'rejected', 'read', 'received'] as const;
export type RareState = (typeof RARE_STATES)[number];

export const INDEXES: readonly Index[] = [
  {
    collection: 'accounts',
    key: { pendingAt: 1 },
    options: { name: 'pending', partialFilterExpression: { pendingAt: { $exists: true } } },
    serves: 'maintenance: accounts that have had something pending for long',
  },
  {
    collection: 'accounts',
    key: { held: 1 },
    options: { name: 'held', partialFilterExpression: { held: { $exists: true } } },
    serves: 'smpp claim: the accounts of which nothing may leave',
  },
  {
    collection: 'accounts',
    key: { log: 1 },
    options: { name: 'log', partialFilterExpression: { log: 'all' } },
    serves: 'smpp message log: the accounts that want everything logged',
  },
  {
    collection: 'ledger',
    key: { account: 1, change: 1 },
    options: { name: 'change', unique: true },
    serves: 'credits: was this change entered already? A second guard that it is entered once',
  },
  { collection: 'keys', key: { account: 1 }, options: { name: 'account' }, serves: 'ops: the keys of an account' },
  {
    collection: 'senders',
    key: { account: 1, sender: 1 },
    options: { name: 'account_sender', unique: true },
    serves: 'senders: the registered sender of an account',
  },
  {
    collection: 'templates',
    key: { account: 1, status: 1, dltId: 1 },
    options: { name: 'account_status' },
    serves: "templates: an account's, or its approved ones, by id",
  },
  {
    collection: 'templates',
    key: { account: 1, senders: 1 },
    options: { name: 'approved', partialFilterExpression: { status: 'approved' } },
    serves: 'matching: the approved templates of a sender',
  },
  {
    collection: 'templates',
    key: { paused: 1 },
    options: { name: 'paused', partialFilterExpression: { paused: { $exists: true } } },
    serves: 'smpp claim: the templates of which nothing may leave',
  },
  {
    collection: 'endpoints',
    key: { account: 1 },
    options: { name: 'account' },
    serves: 'webhooks: the endpoints of an account',
  },
  {
    collection: 'endpoints',
    key: { account: 1, place: 1 },
    options: { name: 'place', unique: true, partialFilterExpression: { place: { $exists: true } } },
    serves: 'webhooks: no two endpoints of an account have the same place, so none has more than there are places',
  },
  {
    collection: 'messages',
    key: { account: 1, _id: 1 },
    options: { name: 'account' },
    serves: 'the messages of an account, newest first',
  },
  {
    collection: 'messages',
    key: { path: 1, lane: 1, account: 1, _id: 1 },
    options: { name: 'queue', partialFilterExpression: { state: 'queued' } },
    serves: 'smpp claim: queued messages of a path and lane, account by account, oldest first',
  },
  {
    collection: 'messages',
    key: { 'claim.carrier': 1, _id: 1 },
    options: { name: 'submitting', partialFilterExpression: { state: 'submitting' } },
    serves: 'smpp take-over: what an earlier holder of the carrier left unsettled; unknowns an orphan may fit',
  },
  {
    collection: 'messages',
    key: { 'parts.key': 1 },
    options: { name: 'parts', sparse: true },
    serves: 'smpp receipts: the message of a carrier id',
  },
  {
    collection: 'messages',
    key: { 'earlier.parts.key': 1 },
    options: { name: 'earlier_parts', sparse: true },
    serves: 'smpp receipts: the message that was sent again of which a carrier id is an earlier copy',
  },
  {
    collection: 'messages',
    key: { 'earlier.at': 1 },
    options: { name: 'earlier', sparse: true },
    serves: 'smpp receipts: messages that were sent again of late, which an orphan may fit',
  },
  {
    collection: 'messages',
    key: { due: 1 },
    options: { name: 'due', partialFilterExpression: { due: { $exists: true } } },
    serves: 'maintenance: waiting messages whose time has come, validity that has passed',
  },
  {
    collection: 'messages',
    key: { account: 1, 'history.state': 1, 'history.at': -1 },
    options: { name: 'events_by_state', partialFilterExpression: { 'history.0': { $exists: true } } },
    // Partial: a message without events needs no entry, and the first event has none to remove. Measured on the embedded store,
    // insert and three updates of a message: 125 µs of its CPU without this index, 133 with it, 152 with a full one.
    serves: 'GET /v2/events: the messages of an account that reached certain states between two times',
  },
  {
    collection: 'messages',
    key: { account: 1, state: 1, _id: 1 },
    options: { name: 'rare_states', partialFilterExpression: { state: { $in: [...RARE_STATES] } } },
    // Partial: a delivered SMS has no entry. `$in` in such an expression needs MongoDB 6.
    serves: 'GET /v2/messages: what failed, what customers wrote or have read, among a million that were delivered',
  },
  {
    collection: 'messages',
    key: { conversation: 1, _id: 1 },
    // Chat-app messages only. Measured on the embedded store, insert and three updates of such a message, client included: 94 µs
    // of CPU without it, 99 with it (medians of six alternating runs).
    options: { name: 'conversation', partialFilterExpression: { conversation: { $exists: true } } },
    serves: 'conversations: who else was sent in one whose opener failed',
  },
  {
    collection: 'batches',
    key: { open: 1, _id: 1 },
    options: { name: 'open', partialFilterExpression: { open: { $exists: true } } },
    serves: 'batches: what waits for a worker, oldest first',
  },
  {
    collection: 'batches',
    key: { account: 1 },
    options: { name: 'unpaid', partialFilterExpression: { state: 'unpaid' } },
    serves: 'bulk: what an account has stored and not paid; maintenance: what was never paid',
  },
  {
    collection: 'schedules',
    key: { due: 1 },
    options: { name: 'due', partialFilterExpression: { due: { $exists: true } } },
    serves: 'schedules: what is due for release, redo or refund; the seconds that need an alarm',
  },
  {
    collection: 'deliveries',
    key: { endpoint: 1, due: 1 },
    options: { name: 'due', partialFilterExpression: { due: { $exists: true } } },
    serves: 'webhooks: the due deliveries of an endpoint; which endpoints have any',
  },
  {
    collection: 'deliveries',
    key: { retryAt: 1 },
    options: { name: 'retry', partialFilterExpression: { retryAt: { $exists: true } } },
    serves: 'webhooks: waiting deliveries whose next try has come',
  },
  {
    collection: 'deliveries',
    key: { endpoint: 1, _id: 1 },
    options: { name: 'log' },
    serves: 'the delivery log of an endpoint, newest first',
  },
  {
    collection: 'providers',
    key: { callback: 1 },
    options: { name: 'callback', unique: true },
    serves: 'chat-app callback: whose it is',
  },
  {
    collection: 'message_log',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes what timelines need not show any more',
  },
  {
    collection: 'chat_inbox',
    key: { account: 1, due: 1 },
    options: { name: 'due', partialFilterExpression: { due: { $exists: true } } },
    serves: 'chatapp: what providers posted and nobody has worked off, by account',
  },
  {
    collection: 'chat_inbox',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes what no provider posts again',
  },
  {
    collection: 'orphans',
    key: { carrier: 1, keys: 1 },
    options: { name: 'keys' },
    serves: 'smpp outcome: receipts that came before the answer with their id',
  },
  {
    collection: 'orphans',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes receipts that nothing ever fitted',
  },
  {
    collection: 'rate',
    key: { 'window.start': 1 },
    options: { name: 'expiry', expireAfterSeconds: 120 },
    serves: 'the store removes counts of windows that are over',
  },
  {
    collection: 'rate',
    key: { 'window.recall': 1 },
    options: { name: 'recall', partialFilterExpression: { 'window.recall': true } },
    serves: 'rate loans: windows in which somebody was refused',
  },
  {
    collection: 'idempotency',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes idempotency keys whose day is over',
  },
  {
    collection: 'audit',
    key: { account: 1, _id: 1 },
    options: { name: 'account' },
    serves: 'audit list: changes of an account and its things, newest first',
  },
  {
    collection: 'audit',
    key: { 'subject.kind': 1, 'subject.id': 1, _id: 1 },
    options: { name: 'subject' },
    serves: 'audit list: changes of one thing, newest first',
  },
  {
    collection: 'audit',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes entries of long ago',
  },
  {
    collection: 'processes',
    key: { at: 1 },
    options: { name: 'expiry', expireAfterSeconds: 60 },
    serves: 'the store removes the reports of processes that are gone',
  },
];

/** Indexes of earlier versions that no query uses any more. */
const RETIRED: readonly { readonly collection: string; readonly name: string }[] = [
  { collection: 'messages', name: 'events' },
];

/**
 * Creates missing indexes and drops unused ones. May run in several processes at once. Throws when an index of that name exists
 * with another shape.
 */
export async function ensureIndexes(db: Db): Promise<void> {
  for (const collection of new Set(INDEXES.map((index) => index.collection))) {
    const wanted = INDEXES.filter((index) => index.collection === collection);
    await db.collection(collection).createIndexes(wanted.map(({ key, options }) => ({ key, ...options })));
  }
  for (const { collection, name } of RETIRED) await dropIndex(db, collection, name);
}

async function dropIndex(db: Db, collection: string, name: string): Promise<void> {
  try {
    await db.collection(collection).dropIndex(name);
  } catch (error) {
    if (!isIndexNotFound(error)) throw error;
  }
}
