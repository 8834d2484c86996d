import type { Index } from './product-index.ts';

/** What happened and is to be told, and the mails that tell it. */
export const NOTICE_INDEXES: readonly Index[] = [
  ...['keys', 'users', 'senders', 'ctas', 'traffic_holds', 'verifications'].map((collection) => ({
    collection,
    key: { 'unannounced.at': 1 } as const,
    options: { name: 'unannounced', partialFilterExpression: { 'unannounced.0': { $exists: true } } },
    serves: 'maintenance: of what account and users are to be told',
  })),
  {
    collection: 'told',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store forgets what was told long enough ago to be told again',
  },
  {
    collection: 'mails',
    key: { due: 1 },
    options: { name: 'due', partialFilterExpression: { due: { $exists: true } } },
    serves: 'mails that wait, the oldest first',
  },
  {
    collection: 'mails',
    key: { account: 1, at: 1 },
    options: { name: 'account' },
    serves: 'how many mails an account has had lately',
  },
  {
    collection: 'mails',
    key: { failedAt: -1 },
    options: { name: 'failed', partialFilterExpression: { failedAt: { $exists: true } } },
    serves: 'operators: what the mail server said last',
  },
  {
    collection: 'mails',
    key: { expiresAt: 1 },
    options: { name: 'expiry', expireAfterSeconds: 0 },
    serves: 'the store removes mails of long ago',
  },
];
