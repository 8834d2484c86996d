import type { Db } from 'mongodb';
import { BATCH_INDEXES } from './batch-indexes.ts';
import { type Building, buildIndexes } from './build-indexes.ts';
import { MESSAGE_INDEXES } from './message-indexes.ts';
import { NOTICE_INDEXES } from './notice-indexes.ts';
import type { Index } from './product-index.ts';
import { QUEUE_INDEXES } from './queue-indexes.ts';
import { RECEIVED_INDEXES } from './received-indexes.ts';
import { TEMPLATE_INDEXES } from './template-indexes.ts';
import { WEBHOOK_INDEXES } from './webhook-indexes.ts';

/** Every index of the product with the query that it serves. */
export const INDEXES: readonly Index[] = [
  ...QUEUE_INDEXES,
  {
    collection: 'accounts',
    key: { pendingAt: 1 },
    options: { name: 'pending', partialFilterExpression: { pendingAt: { $exists: true } } },
    serves: 'maintenance: accounts that have had something pending for long',
  },
  {
    collection: 'accounts',
    key: { test: 1 },
    options: { name: 'test', partialFilterExpression: { test: true } },
    serves: 'operators overview: how many accounts are test accounts',
  },
  {
    collection: 'accounts',
    key: { held: 1 },
    options: { name: 'held', partialFilterExpression: { held: { $exists: true } } },
    serves: 'smpp claim: the accounts of which nothing may leave',
  },
  {
    collection: 'accounts',
    key: { 'daytime.from': 1 },
    options: { name: 'daytime', partialFilterExpression: { 'daytime.from': { $exists: true } } },
    serves: "smpp claim: the accounts whose SMS leave in the recipient's daytime only",
  },
  {
    collection: 'accounts',
    key: { log: 1 },
    options: { name: 'log', partialFilterExpression: { log: 'all' } },
    serves: 'smpp message log: the accounts that want everything logged',
  },
  {
    collection: 'accounts',
    key: { 'closed.at': 1 },
    options: { name: 'closed', partialFilterExpression: { 'closed.at': { $exists: true } } },
    serves: 'maintenance: closed accounts that are to be settled, or erased',
  },
  {
    collection: 'accounts',
    key: { messageDays: 1 },
    options: { name: 'message_days', partialFilterExpression: { messageDays: { $exists: true } } },
    serves: 'maintenance: the accounts whose messages are kept for a shorter time',
  },
  {
    collection: 'accounts',
    key: { brake: 1 },
    options: { name: 'brake', partialFilterExpression: { brake: { $exists: true } } },
    serves: 'maintenance: the accounts whose traffic is watched by prefix',
  },
  {
    collection: 'prefix_hours',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'expiry of what was counted by prefix',
  },
  {
    collection: 'statements',
    key: { series: 1, serial: 1 },
    options: { name: 'number', unique: true },
    serves: 'statements of months: no two of a financial year have the same number; the last one',
  },
  {
    collection: 'traffic_holds',
    key: { account: 1, since: 1 },
    options: { name: 'account' },
    serves: 'limits of an account: the prefixes that are held',
  },
  {
    collection: 'traffic_holds',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'expiry of prefixes that were watched, and of the trust in released ones',
  },
  {
    collection: 'verifications',
    key: { account: 1, to: 1, _id: -1 },
    options: { name: 'to' },
    serves: 'a check that names the number: its newest verification; those of a number; erasing it',
  },
  {
    collection: 'verifications',
    key: { account: 1, _id: -1 },
    options: { name: 'account' },
    serves: 'the verifications of an account, newest first; how many of the newest were approved',
  },
  {
    collection: 'verifications',
    key: { check: 1 },
    options: { name: 'check', partialFilterExpression: { check: { $exists: true } } },
    serves: 'the answer to a check whose answer was lost',
  },
  {
    collection: 'verifications',
    key: { expiresAt: 1 },
    options: { name: 'pending', partialFilterExpression: { state: 'pending' } },
    serves: 'maintenance: the verifications whose time is over',
  },
  {
    collection: 'verifications',
    key: { 'second.due': 1, account: 1 },
    options: { name: 'second', partialFilterExpression: { 'second.due': { $exists: true } } },
    serves: 'second tries of verifications by the chat app that are due',
  },
  {
    collection: 'verifications',
    key: { removeAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes verifications of two weeks ago',
  },
  {
    collection: 'recipient_hours',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'expiry of what each recipient was sent in an hour',
  },
  {
    collection: 'ledger',
    key: { account: 1, change: 1 },
    options: { name: 'change', unique: true },
    serves: 'credits: was this change entered already? A second guard that it is entered once',
  },
  {
    collection: 'ledger',
    key: { account: 1, 'then.change': 1 },
    options: { name: 'then', partialFilterExpression: { 'then.change': { $exists: true } } },
    serves: 'the entry of a debit that was entered together with others',
  },
  {
    collection: 'ledger',
    key: { account: 1, at: 1 },
    options: { name: 'refunds', partialFilterExpression: { reason: 'refund' } },
    serves: 'the statement of a month: what came back',
  },
  { collection: 'keys', key: { account: 1 }, options: { name: 'account' }, serves: 'ops: the keys of an account' },
  {
    collection: 'users',
    key: { username: 1, account: 1 },
    options: { name: 'username_account', unique: true },
    serves: 'sign-in: whose a sign-in name is; no two users of an account have the same, and no two operators',
  },
  {
    collection: 'users',
    key: { account: 1, place: 1 },
    options: { name: 'place', unique: true, partialFilterExpression: { place: { $exists: true } } },
    serves: 'invitations: an account has no more users than places',
  },
  {
    collection: 'users',
    key: { account: 1, networks: 1 },
    options: { name: 'networks' },
    serves: 'sign-in: has anybody of the account signed in from this network before?',
  },
  {
    collection: 'users',
    key: { account: 1, _id: 1 },
    options: { name: 'account' },
    serves: 'the users of an account; the operators, who have none',
  },
  {
    collection: 'users',
    key: { 'link.hash': 1 },
    options: { name: 'link', partialFilterExpression: { 'link.hash': { $exists: true } } },
    serves: 'one-time links: whose a link is',
  },
  {
    collection: 'sign_in_failures',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes failed sign-ins that limit nobody any more',
  },
  {
    collection: 'sessions',
    key: { user: 1, _id: -1 },
    options: { name: 'user_newest' },
    serves: 'the sessions of a user, to list them and to end them, the oldest first',
  },
  {
    collection: 'sessions',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes sessions after their absolute end',
  },
  {
    collection: 'keys',
    key: { account: 1, _id: 1 },
    options: { name: 'list' },
    serves: 'account: its keys, newest first',
  },
  {
    collection: 'keys',
    key: { account: 1, status: 1, _id: 1 },
    options: { name: 'status' },
    serves: 'account: its active, expired or revoked keys, newest first',
  },
  {
    collection: 'keys',
    key: { account: 1, place: 1 },
    options: { name: 'place', unique: true, partialFilterExpression: { place: { $exists: true } } },
    serves: 'keys: no two that work have the same place, so an account has no more than there are places',
  },
  {
    collection: 'senders',
    key: { account: 1, sender: 1 },
    options: { name: 'account_sender', unique: true },
    serves: 'senders: the registered sender of an account',
  },
  {
    collection: 'senders',
    key: { account: 1, createdAt: 1, _id: 1 },
    options: { name: 'queue', partialFilterExpression: { status: 'submitted' } },
    serves: 'approvals: the senders that wait, account by account, oldest first',
  },
  {
    collection: 'senders',
    key: { account: 1, place: 1 },
    options: { name: 'place', unique: true, partialFilterExpression: { place: { $exists: true } } },
    serves: 'quotas: no two senders that an account asked for have the same place',
  },
  {
    collection: 'ctas',
    key: { account: 1, value: 1 },
    options: { name: 'account_value', unique: true },
    serves: 'CTAs of an account: the list, and that it has each once',
  },
  {
    collection: 'ctas',
    key: { account: 1, createdAt: 1, _id: 1 },
    options: { name: 'queue', partialFilterExpression: { status: 'submitted' } },
    serves: 'approvals: the CTAs that wait, account by account, oldest first',
  },
  {
    collection: 'ctas',
    key: { account: 1, place: 1 },
    options: { name: 'place', unique: true, partialFilterExpression: { place: { $exists: true } } },
    serves: 'quotas: no two CTAs of an account have the same place',
  },
  ...TEMPLATE_INDEXES,
  ...MESSAGE_INDEXES,
  ...BATCH_INDEXES,
  ...WEBHOOK_INDEXES,
  ...NOTICE_INDEXES,
  {
    collection: 'providers',
    key: { callback: 1 },
    options: { name: 'callback', unique: true },
    serves: 'chat-app callback: whose it is',
  },
  {
    collection: 'providers',
    key: { phoneNumberId: 1 },
    options: { name: 'number', unique: true },
    serves: 'chat-app callback: whose a number of the same app is; a number belongs to one account',
  },
  {
    collection: 'providers',
    key: { account: 1 },
    options: { name: 'account' },
    serves: 'chat-app: the numbers of an account',
  },
  {
    collection: 'providers',
    key: { businessId: 1 },
    options: { name: 'business' },
    serves: 'chat-app callback: whose a business account of the same app is',
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
    collection: 'carrier_callbacks',
    key: { carrier: 1, at: 1 },
    options: { name: 'oldest' },
    serves: 'smpp: the receipts that an HTTP carrier posted and nobody has settled',
  },
  {
    collection: 'carrier_callbacks',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes receipts of carriers that are gone',
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
    collection: 'orphans',
    key: { expiresAt: 1, _id: 1 },
    options: { name: 'list' },
    // Beside the index above, because the store removes by an index of one field only.
    serves: 'operators: receipts that fit nothing, newest first',
  },
  ...RECEIVED_INDEXES,
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
    serves: 'rate allowances: windows in which somebody was refused',
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
    collection: 'erasures',
    key: { due: 1 },
    options: { name: 'due', partialFilterExpression: { due: { $exists: true } } },
    serves: 'maintenance: the numbers that are to be erased',
  },
  {
    collection: 'erasures',
    key: { account: 1, _id: 1 },
    options: { name: 'account' },
    serves: 'the erasures of an account, or of operators, newest first',
  },
  {
    collection: 'conversations',
    key: { account: 1, lastInboundAt: -1, _id: -1 },
    options: { name: 'inbox', partialFilterExpression: { lastInboundAt: { $exists: true } } },
    // Written when a customer writes, and not when a message is sent.
    serves: 'inbox: who wrote last; overview: how many sessions are open',
  },
  {
    collection: 'conversations',
    key: { account: 1, customer: 1 },
    options: { name: 'marketing_stops', partialFilterExpression: { 'marketing.stopped': true } },
    serves: 'the customers of an account who want no marketing on the chat-app channel',
  },
  {
    collection: 'conversations',
    key: { keys: 1 },
    options: { name: 'keys', sparse: true },
    // Written when a customer is met first, and when something new is told of them.
    serves: 'chat-app: the person with this user id, user name or customer id',
  },
  {
    collection: 'conversation_places',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'expiry of how many messages were sent in a conversation',
  },
  {
    collection: 'conversation_losses',
    key: { account: 1, _id: -1 },
    options: { name: 'account' },
    serves: 'operators: the conversations of an account that cost more than they earned, newest first',
  },
  {
    collection: 'conversation_losses',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes losses of long ago',
  },
  {
    collection: 'conditions',
    key: { account: 1 },
    options: { name: 'account' },
    serves: 'overview: what is wrong with an account',
  },
  {
    collection: 'conditions',
    key: { endedAt: 1, 'concerns.operator.severity': -1, since: 1 },
    options: { name: 'present' },
    serves:
      'operations: what is wrong now, the most urgent first, and what ended lately; the watch and notices: all that is wrong',
  },
  {
    collection: 'conditions',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes conditions that ended days ago',
  },
  {
    collection: 'carrier_peaks',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes peaks of long ago',
  },
  {
    collection: 'statistics',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes counts of long ago',
  },
  {
    collection: 'counted_hours',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes the times at which hours of long ago were counted',
  },
  {
    collection: 'ledger_checks',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes what checks of the ledger found long ago',
  },
  {
    collection: 'exports',
    key: { account: 1, place: 1 },
    options: { name: 'place', unique: true },
    serves: 'quotas: no two exports of an account have the same place; the exports of an account',
  },
  {
    collection: 'exports',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes exports after a day',
  },
  {
    collection: 'export_pieces',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes the files of exports after a day',
  },
  {
    collection: 'processes',
    key: { at: 1 },
    options: { name: 'expiry', expireAfterSeconds: 60 },
    serves: 'the store removes the reports of processes that are gone',
  },
];

/**
 * Creates missing indexes. May run in several processes at once. Waits as long as the server builds, and calls `tell` from time
 * to time. Throws `StartError` naming an index that cannot be built.
 */
export async function ensureIndexes(
  db: Db,
  tell: (building: Building) => void = () => {},
  only: readonly Index[] = INDEXES,
): Promise<void> {
  const hello = await db.admin().command({ hello: 1 });
  const quorum = hello.setName !== undefined || hello.msg === 'isdbgrid';
  for (const collection of new Set(only.map((index) => index.collection))) {
    const wanted = only.filter((index) => index.collection === collection);
    const indexes = wanted.map(({ key, options }) => ({ key, ...options }));
    await buildIndexes(db, collection, indexes, { quorum, tell });
  }
}
