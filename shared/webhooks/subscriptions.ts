import type { Db } from 'mongodb';
import type { Clock } from '../runtime/clock.ts';
import { FreshCache } from '../runtime/fresh-cache.ts';
import type { AccountId } from '../runtime/ids.ts';
import type { EndpointDocument } from './endpoint.ts';

/** What announcing needs to know of an active endpoint. */
export type Subscription = Pick<EndpointDocument, '_id' | 'channel' | 'events'>;

/**
 * How long a process goes by what it read: a new or changed endpoint gets its events after this time at the latest. A registration is
 * answered only then (gateway/chatapp/webhook.ts waits), so it is short; and long enough for a busy account to cost two reads a
 * second, not one for each group of events.
 */
export const SUBSCRIPTIONS_FRESH_MS = 500;
/** Accounts; an account's endpoints are few (endpoint-store.ts). */
const ACCOUNTS_MAX = 10_000;

/** The active endpoints of accounts; an account without any has an empty list. */
export function createSubscriptions(db: Db, clock: Clock): FreshCache<AccountId, readonly Subscription[]> {
  return new FreshCache({
    clock,
    freshMs: SUBSCRIPTIONS_FRESH_MS,
    maxEntries: ACCOUNTS_MAX,
    readMany: (accounts) => readSubscriptions(db, accounts),
  });
}

async function readSubscriptions(
  db: Db,
  accounts: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, readonly Subscription[]>> {
  const byAccount = new Map<AccountId, Subscription[]>(accounts.map((account) => [account, []]));
  const endpoints = db
    .collection<EndpointDocument>('endpoints')
    .find({ account: { $in: [...accounts] }, status: 'active' })
    .project<Pick<EndpointDocument, '_id' | 'account' | 'channel' | 'events'>>({ account: 1, channel: 1, events: 1 });
  for await (const { _id, account, channel, events } of endpoints)
    byAccount.get(account)?.push({ _id, channel, events });
  return byAccount;
}
