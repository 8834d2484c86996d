import type { Index } from './product-index.ts';

/**
 * States that few messages of an account reach, and the index that has them. A message that is now `delivered` was never in one of
 * them.
 */
export const RARE_STATES = {
  expired: 'expired_failed',
  failed: 'expired_failed',
  read: 'read_to_rejected',
  received: 'read_to_rejected',
  rejected: 'read_to_rejected',
} as const;
export type RareState = keyof typeof RARE_STATES;

/** Every index on `messages` costs several writes per message. Add one only after measuring it. */
export const MESSAGE_INDEXES: readonly Index[] = [
  {
    collection: 'messages',
    key: { account: 1, _id: 1 },
    options: { name: 'account' },
    serves: 'the messages of an account, newest first',
  },
  {
    collection: 'messages',
    key: { account: 1, from: 1, _id: 1 },
    options: { name: 'chat_queue', partialFilterExpression: { channel: 'chatapp', state: 'queued' } },
    serves: 'chat-app claim: queued messages of a number of an account, oldest first',
  },
  {
    collection: 'messages',
    key: { 'claim.carrier': 1, _id: 1 },
    options: { name: 'submitting', partialFilterExpression: { state: 'submitting' } },
    serves: 'smpp take-over: what an earlier holder of the carrier left unsettled; unknowns an orphan may fit',
  },
  {
    collection: 'messages',
    key: { 'claim.carrier': 1, _id: 1 },
    options: { name: 'retrying', partialFilterExpression: { state: 'waiting' } },
    // A message that is never refused for now has no entry.
    serves: 'watch: what a carrier refused for now and waits for its next try; the oldest of it',
  },
  {
    collection: 'messages',
    key: { 'parts.key': 1 },
    options: { name: 'parts', sparse: true },
    serves: 'smpp receipts: the message of a carrier id',
  },
  {
    collection: 'messages',
    key: { 'parts.caseless': 1 },
    options: { name: 'parts_caseless', sparse: true },
    serves:
      'smpp receipts: the message of a carrier id with letters of both cases that the receipt has in another case',
  },
  {
    collection: 'messages',
    key: { 'earlier.parts.key': 1 },
    options: { name: 'earlier_parts', sparse: true },
    serves: 'smpp receipts: the message that was sent again of which a carrier id is an earlier copy',
  },
  {
    collection: 'messages',
    key: { 'givenUp.parts.key': 1 },
    options: { name: 'given_up_parts', sparse: true },
    serves:
      'smpp receipts: the message that went to another carrier after a receipt, when its first carrier says more of it',
  },
  {
    collection: 'messages',
    key: { 'earlier.carrier': 1, 'earlier.at': 1 },
    options: { name: 'earlier_copies', sparse: true },
    // The carrier first: one that flaps may leave 100,000 copies in three days, and receipts of all carriers ask.
    serves: 'smpp receipts: messages that were sent again after a carrier had them of late, which its orphan may fit',
  },
  {
    collection: 'messages',
    key: { due: 1, account: 1 },
    options: { name: 'due_accounts', partialFilterExpression: { due: { $exists: true } } },
    serves: 'maintenance: waiting messages whose time has come, validity that has passed; of each account some',
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
    options: { name: 'expired_failed', partialFilterExpression: { state: { $gte: 'expired', $lte: 'failed' } } },
    // Partial: a delivered SMS has no entry. Two ranges of names, because not every server knows `$in` in such an expression, and
    // because `queued` stands between them, where every message begins.
    serves: 'GET /v2/messages: what failed, among a million that were delivered',
  },
  {
    collection: 'messages',
    key: { account: 1, state: 1, _id: 1 },
    options: { name: 'read_to_rejected', partialFilterExpression: { state: { $gte: 'read', $lte: 'rejected' } } },
    serves:
      'GET /v2/messages: what customers wrote or have read, and what was refused, among a million that were delivered',
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
    collection: 'messages',
    key: { 'fallback.due': 1, account: 1 },
    options: { name: 'fallback', partialFilterExpression: { 'fallback.due': { $exists: true } } },
    // Only chat-app messages that have one, until it is known what becomes of it.
    serves: 'chat-app: messages in whose place an SMS is due',
  },
  // By day and recipient, not by recipient alone: then a day's messages go to a few pages of the index, not to pages all over it
  // (docs/decisions/0022). The account stands behind the number: so the same index answers operators, who search all accounts.
  // (docs/decisions/0043). To these three only the insert of a message writes.
  {
    collection: 'messages',
    key: { day: 1, to: 1, account: 1, _id: 1 },
    options: { name: 'to' },
    serves: 'GET /v2/messages, GET /v2/admin/messages: what was sent to a number',
  },
  {
    collection: 'messages',
    key: { day: 1, from: 1, account: 1, _id: 1 },
    options: { name: 'from', partialFilterExpression: { from: { $exists: true } } }, // not SMS to customers
    serves:
      'GET /v2/messages, GET /v2/admin/messages: what a customer wrote, or was sent from a number of the chat-app',
  },
  {
    collection: 'messages',
    key: { day: 1, reference: 1, account: 1, _id: 1 },
    options: { name: 'by_reference', partialFilterExpression: { reference: { $exists: true } } },
    serves: 'GET /v2/messages, GET /v2/admin/messages: messages of a reference',
  },
];
