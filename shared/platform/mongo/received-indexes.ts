import type { Index } from './product-index.ts';

/** What handsets write to: received SMS, the numbers, and opt-outs. */
export const RECEIVED_INDEXES: readonly Index[] = [
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
    serves: 'the store removes what handsets wrote to nobody',
  },
  {
    collection: 'inbound',
    key: { expiresAt: 1, _id: 1 },
    options: { name: 'unassigned', partialFilterExpression: { expiresAt: { $exists: true } } },
    // Beside the index above, because the store removes by an index of one field only.
    serves: 'operators: what handsets wrote to nobody, newest first',
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
    key: { account: 1, _id: 1 },
    options: { name: 'list' },
    serves: 'the numbers of an account, by number and keyword',
  },
  {
    collection: 'opt_outs',
    key: { account: 1, customer: 1, scope: 1 },
    options: { name: 'customer', partialFilterExpression: { out: true } },
    serves: 'sends: which recipients have opted out; the list of an account, by customer',
  },
  {
    collection: 'opt_outs',
    key: { account: 1, scope: 1, customer: 1 },
    options: { name: 'scope', partialFilterExpression: { out: true } },
    serves: 'the opt-outs of one number of an account, by customer, among a million of others',
  },
  {
    collection: 'opt_out_answers',
    key: { carrier: 1, _id: 1 },
    options: { name: 'carrier' },
    serves: 'smpp worker: answers to STOP, START and HELP that are due to customers of a carrier',
  },
  {
    collection: 'opt_out_helps',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes what limits answers to HELP, a day after the last one',
  },
];
