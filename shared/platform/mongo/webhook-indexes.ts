import type { Index } from './product-index.ts';

/** States of a delivery that was not taken at the first try, and the index that has them. */
export const FAILED_STATES = { waiting: 'failed_tries', exhausted: 'failed_tries', discarded: 'discarded' } as const;
export type FailedState = keyof typeof FAILED_STATES;

/** What webhooks and their deliveries are found by. Every index on `deliveries` costs a write per document. */
export const WEBHOOK_INDEXES: readonly Index[] = [
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
    collection: 'endpoints',
    key: { raw: 1 },
    options: { name: 'raw', partialFilterExpression: { raw: true } },
    serves: 'the few accounts whose webhooks want receipts as carriers wrote them',
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
    collection: 'deliveries',
    key: { endpoint: 1, state: 1, _id: 1 },
    options: { name: 'failed_tries', partialFilterExpression: { state: { $gte: 'exhausted' } } },
    // Partial: a delivery that succeeds at the first try has no entry. By name, `waiting` is the only other state from there on.
    serves: 'the delivery log: the few that failed among a million that did not',
  },
  {
    collection: 'deliveries',
    key: { endpoint: 1, state: 1, _id: 1 },
    options: { name: 'discarded', partialFilterExpression: { state: 'discarded' } },
    serves: 'the delivery log: what was not posted, because its endpoint was disabled',
  },
  {
    collection: 'deliveries',
    key: { 'items.eventId': 1 },
    options: { name: 'grouped', sparse: true },
    serves: 'one event of a group: the delivery log, the timeline of a message, a redo of a settle',
  },
  {
    collection: 'webhook_replays',
    key: { state: 1, endpoint: 1 },
    options: { name: 'running', unique: true, partialFilterExpression: { state: 'running' } },
    serves: 'webhooks: the replays to work off; no endpoint has two at a time',
  },
  {
    collection: 'webhook_replays',
    key: { endpoint: 1, _id: 1 },
    options: { name: 'list' },
    serves: 'account: the replays of a webhook, newest first',
  },
  {
    collection: 'webhook_replays',
    key: { account: 1, _id: 1 },
    options: { name: 'account' },
    serves: 'live numbers: the newest replays of an account',
  },
  {
    collection: 'webhook_replays',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes replays of long ago',
  },
];
