import type { Db } from 'mongodb';
import type { CarrierDocument } from '../carriers/carrier.ts';
import { listCarriers } from '../carriers/carrier-store.ts';
import { providersOf } from '../carriers/providers/store.ts';
import type { RouteDocument } from '../carriers/routing/route.ts';
import { listRoutes } from '../carriers/routing/store.ts';
import type { SenderDocument } from '../carriers/sender.ts';
import type { EndpointDocument } from '../events/webhooks/endpoint.ts';
import { creditsPerDay, readHours } from '../messages/statistics.ts';
import { readHolds } from '../messages/traffic/hold.ts';
import type { AccountDocument } from '../money/accounts/account.ts';
import type { AccountId } from '../platform/runtime/ids.ts';
import type { AccountSeen } from './seen.ts';
import { readCarrierConditions } from './store.ts';

/** The rate at which credits go is that of the last week: a day may be a Sunday. */
const RATE_DAYS = 7;
const DAY_MS = 86_400_000;
/** Conditions of a carrier that takes no messages. */
const STOPPING: readonly string[] = ['carrier.down', 'carrier.refusing', 'carrier.silent'];

type Account = AccountSeen['account'];

/** What the finders look at, of some accounts: seven reads for all of them. `perDay`: credits used a day, where that is known. */
export async function gatherAccounts(
  db: Db,
  accounts: readonly Account[],
  now: Date,
  perDay: (account: AccountId) => number | undefined,
): Promise<readonly AccountSeen[]> {
  const ids = accounts.map(({ _id }) => _id);
  const needSender = accounts.filter(needsSender).map(({ _id }) => _id);
  const [carriers, routes, senders, endpoints, providers, holds, stopped] = await Promise.all([
    listCarriers(db),
    listRoutes(db),
    accountsWithSender(db, needSender),
    db
      .collection<EndpointDocument>('endpoints')
      .find({ account: { $in: ids }, $or: [{ failingSince: { $exists: true } }, { status: 'disabled' }] })
      .toArray(),
    providersOf(db, ids),
    readHolds(db, ids),
    readStoppedCarriers(db),
  ]);
  const serving = carriers.some(({ paths }) => paths.length > 0);
  return accounts.map((account) => ({
    now,
    account,
    hasSender: !needsSender(account) || senders.has(account._id),
    // Without any carrier that is one condition of the installation, not one of each account.
    hasRoute:
      carriers.length === 0 ||
      (routes.length === 0
        ? serving
        : routes.some(({ groups, match }) => groups.length > 0 && (match.accounts?.includes(account._id) ?? true))),
    stoppedSince: stoppedSince(account._id, carriers, routes, stopped),
    holds: holds.filter((one) => one.account === account._id),
    webhooks: endpoints.filter((one) => one.account === account._id),
    providers: providers.filter((one) => one.account === account._id),
    lastsDays: lasting(account.balance, perDay(account._id)),
  }));
}

/** Since when carriers take nothing, as the watch has found it. */
async function readStoppedCarriers(db: Db): Promise<ReadonlyMap<string, Date>> {
  const found = await readCarrierConditions(db);
  const urgent = found.filter(
    ({ name, concerns }) => STOPPING.includes(name) && concerns.operator?.severity === 'urgent',
  );
  return new Map(urgent.map(({ subject, since }) => [subject.id, since]));
}

/** The beginning of the latest, when all carriers that may take its SMS have stopped. */
function stoppedSince(
  account: AccountId,
  carriers: readonly CarrierDocument[],
  routes: readonly RouteDocument[],
  stopped: ReadonlyMap<string, Date>,
): Date | undefined {
  if (stopped.size === 0) return undefined;
  const open = routes
    .filter(({ match }) => match.accounts?.includes(account) ?? true)
    .toSorted((a, b) => b.order - a.order);
  // A route that takes all its messages leaves none to those below it.
  const last = open.findIndex(({ match }) => Object.keys(match).every((name) => name === 'accounts'));
  const reached = last < 0 ? open : open.filter(({ order }) => order >= (open[last]?.order ?? 0));
  const ids =
    routes.length === 0
      ? carriers.filter(({ paths }) => paths.length > 0).map(({ _id }) => _id)
      : reached.flatMap(({ groups }) => groups.flat().map(({ carrier }) => carrier));
  const times = ids.map((id) => stopped.get(id)?.getTime() ?? Number.POSITIVE_INFINITY);
  const since = Math.max(...times);
  return Number.isFinite(since) ? new Date(since) : undefined;
}

/** Credits that an account used a day in the last week. */
export async function readCreditsPerDay(db: Db, account: AccountId, now: Date): Promise<number> {
  return creditsPerDay(await readHours(db, account, new Date(now.getTime() - RATE_DAYS * DAY_MS)), now);
}

/** For how many whole days a balance lasts. Undefined when nothing is used, or nobody knows. */
export function lasting(balance: number, perDay: number | undefined): number | undefined {
  return perDay === undefined || perDay === 0 ? undefined : Math.floor(balance / perDay);
}

/** The fields that are read of an account. */
export const ACCOUNT_FIELDS: Readonly<Record<keyof Account, 1>> = {
  ...{ _id: 1, balance: 1, dlt: 1, expiryDate: 1, held: 1, lowBalance: 1, name: 1, senders: 1, status: 1 },
};

function needsSender({ senders, dlt }: Pick<AccountDocument, 'senders' | 'dlt'>): boolean {
  return senders === 'registered' || dlt === 'on';
}

async function accountsWithSender(db: Db, ids: readonly AccountId[]): Promise<ReadonlySet<AccountId>> {
  if (ids.length === 0) return new Set();
  const found = await db
    .collection<SenderDocument>('senders')
    .aggregate<{ _id: AccountId }>([
      { $match: { account: { $in: ids }, status: 'approved' } },
      { $group: { _id: '$account', n: { $sum: 1 } } },
    ])
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}
