import type { Index } from './product-index.ts';

/** Templates of both channels, and requests for them. */
export const TEMPLATE_INDEXES: readonly Index[] = [
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
    collection: 'templates',
    key: { account: 1, createdAt: 1, _id: 1 },
    options: { name: 'queue', partialFilterExpression: { status: 'submitted' } },
    serves: 'approvals: the templates that wait, account by account, oldest first',
  },
  {
    collection: 'template_requests',
    key: { account: 1, _id: 1 },
    options: { name: 'account' },
    serves: 'templates: what an account asked for, newest first',
  },
  {
    collection: 'template_requests',
    key: { account: 1, createdAt: 1, _id: 1 },
    options: { name: 'queue', partialFilterExpression: { status: 'requested' } },
    serves: 'approvals: the requests that wait, account by account, oldest first',
  },
  {
    collection: 'chat_template_requests',
    key: { account: 1, due: 1 },
    options: { name: 'due', partialFilterExpression: { due: { $exists: true } } },
    serves: 'chatapp: what providers are to be asked, by account',
  },
  ...['templates', 'template_requests', 'chat_template_requests'].map((collection) => ({
    collection,
    key: { account: 1, place: 1 } as const,
    options: { name: 'place', unique: true, partialFilterExpression: { place: { $exists: true } } },
    serves: 'quotas: no two that an account asked for have the same place',
  })),
  ...['templates', 'template_requests', 'chat_templates', 'chat_template_requests'].map((collection) => ({
    collection,
    key: { 'unannounced.at': 1 } as const,
    options: { name: 'unannounced', partialFilterExpression: { 'unannounced.0': { $exists: true } } },
    serves: 'maintenance: templates of which webhooks are to be told',
  })),
];
