import type { Db } from 'mongodb';
import { isIndexNotFound } from './errors.ts';
import { type Index, MESSAGE_INDEXES } from './message-indexes.ts';

/** Every index of the product with the query that it serves. */
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
  ...MESSAGE_INDEXES,
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
    collection: 'inbound',
    key: { carrier: 1, _id: 1 },
    options: { name: 'unfinished', partialFilterExpression: { due: { $exists: true } } },
    serves: 'smpp take-over: what handsets wrote and an earlier holder of the carrier did not finish',
  },
  {
    collection: 'inbound',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes what handsets wrote to nobody; ops lists it, newest first',
  },
  {
    collection: 'numbers',
    key: { number: 1 },
    options: { name: 'number' },
    serves: 'smpp inbound: whose a number is',
  },
  {
    collection: 'numbers',
    key: { national: 1 },
    options: { name: 'national', partialFilterExpression: { national: { $exists: true } } },
    serves: 'smpp inbound: whose a number is that the carrier writes without its country code',
  },
  {
    collection: 'numbers',
    key: { account: 1 },
    options: { name: 'account' },
    serves: 'ops: the numbers of an account',
  },
  {
    collection: 'opt_outs',
    key: { account: 1, customer: 1, scope: 1 },
    options: { name: 'customer', partialFilterExpression: { out: true } },
    serves: 'sends: which recipients have opted out; the list of an account, by customer',
  },
  {
    collection: 'opt_out_answers',
    key: { carrier: 1, _id: 1 },
    options: { name: 'carrier' },
    serves: 'smpp worker: answers to STOP, START and HELP that are owed to customers of a carrier',
  },
  {
    collection: 'opt_out_helps',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes what limits answers to HELP, a day after the last one',
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
