import type { Db } from 'mongodb';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FreshCache } from '../../platform/runtime/fresh-cache.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import type { EndpointDocument } from './endpoint.ts';

/** The fields of an active endpoint that announcing needs. */
export type Subscription = Pick<
  EndpointDocument,
  '_id' | 'channel' | 'events' | 'filter' | 'raw' | 'createdAt' | 'subscribedSince'
>;

/**
 * How long a process uses what it read: a new or changed endpoint gets its events after this time at the latest. The API answers
 * a registration or a change only after that (gateway/endpoints/webhooks/), so it is
 * short. It is long enough that a busy account costs two reads a second, not one per group of events.
 */
export const SUBSCRIPTIONS_FRESH_MS = 500;
/** Most accounts; each has few endpoints (endpoint-store.ts). */
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
    .project<Subscription & Pick<EndpointDocument, 'account'>>({
      ...{ account: 1, channel: 1, events: 1, filter: 1, raw: 1, createdAt: 1, subscribedSince: 1 },
    });
  for await (const { account, ...subscription } of endpoints) byAccount.get(account)?.push(subscription);
  return byAccount;
}
