import type { Index } from './product-index.ts';

/**
 * Batches that are paid for, and not for a schedule: `paid`, `split`, `stopped`, `stopping`. Only these are shown. A range of names,
 * because not every server knows `$in` in the filter of an index.
 */
export const SHOWN_BATCHES = { state: { $gte: 'paid', $lte: 'stopping' } } as const;

/** Of bulk requests and schedules. */
export const BATCH_INDEXES: readonly Index[] = [
  {
    collection: 'batches',
    key: { open: 1, account: 1, _id: 1 },
    options: { name: 'work', partialFilterExpression: { open: { $exists: true } } },
    serves: 'batches: what waits for a worker, account by account, oldest first',
  },
  {
    collection: 'batches',
    key: { state: 1, account: 1, _id: 1 },
    options: { name: 'stopping', partialFilterExpression: { state: 'stopping' } },
    serves: 'batches: what is to be stopped, account by account, also behind many that are not',
  },
  {
    collection: 'batches',
    key: { account: 1 },
    options: { name: 'unpaid', partialFilterExpression: { state: 'unpaid' } },
    serves: 'bulk: what an account has stored and not paid; maintenance: what was never paid',
  },
  {
    collection: 'batches',
    key: { account: 1, _id: 1 },
    options: { name: 'shown', partialFilterExpression: SHOWN_BATCHES },
    serves: 'GET /v2/batches: the paid batches of an account, newest first',
  },
  {
    collection: 'schedules',
    key: { due: 1 },
    options: { name: 'due', partialFilterExpression: { due: { $exists: true } } },
    serves: 'schedules: what is due for release, redo or refund; the seconds that need an alarm',
  },
  {
    collection: 'schedules',
    key: { account: 1, _id: 1 },
    options: { name: 'account' },
    serves: 'GET /v2/schedules: the schedules of an account, newest first',
  },
  {
    collection: 'schedules',
    key: { account: 1, at: 1, _id: 1 },
    options: { name: 'upcoming', partialFilterExpression: { state: 'scheduled' } },
    serves: 'GET /v2/schedules?state=scheduled: what waits for its time, the next first; schedules: turns of accounts',
  },
];
