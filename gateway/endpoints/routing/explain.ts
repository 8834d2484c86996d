import type { Db } from 'mongodb';
import { readBindReports } from '../../../shared/carriers/bind-report.ts';
import { carrierLease } from '../../../shared/carriers/carrier.ts';
import { listCarriers } from '../../../shared/carriers/carrier-store.ts';
import { type Availability, availabilityOf, mayTake } from '../../../shared/carriers/routing/availability.ts';
import {
  listOfPath,
  type RouteDocument,
  type RouteMatch,
  type WeightedCarrier,
} from '../../../shared/carriers/routing/route.ts';
import { listRoutes } from '../../../shared/carriers/routing/store.ts';
import { type Routable, RouteTable } from '../../../shared/carriers/routing/table.ts';
import { heldEpochs } from '../../../shared/platform/leases/lease.ts';

interface Explanation {
  readonly kind: 'carried' | 'waits' | 'refused';
  readonly route: RouteDocument | undefined;
  readonly path: string | undefined;
  /** In the order in which they are asked; `state` is in words. */
  readonly carriers: readonly { readonly carrier: string; readonly state: string; readonly takes: boolean }[];
  /** Routes that match too, but less. */
  readonly others: readonly string[];
  /** In sentences: what happens, and by which route. */
  readonly verdict: string;
  readonly by: string;
}

/** Which carrier would take a message now, and why. Stores nothing. */
export async function explainRoute(db: Db, message: Routable, now: Date): Promise<Explanation> {
  const carriers = await listCarriers(db);
  const [routes, availabilities] = await Promise.all([listRoutes(db), readAvailabilities(db, carriers, now)]);
  const table = new RouteTable(routes, carriers);
  const found = table.resolve(message);
  const { route } = found;
  // A route matches once for each of its destinations.
  const others = [...new Set(table.matches(message).map(({ _id }) => _id))].filter((_id) => _id !== route?._id);
  if (found.kind === 'no_route') {
    const verdict = `Nobody: ${found.why}. Sends to it get 400 no_route.`;
    return { kind: 'refused', route, path: undefined, carriers: [], others, verdict, by: found.why };
  }
  const { path } = found;
  const asked = listOfPath(path)?.carriers ?? table.served.get(path) ?? [];
  const takes = asked.filter((one) => {
    const state = availabilities.get(one)?.state;
    return (state === 'up' || state === 'tripped') && mayTake(path, asked, one, state, availabilities, now);
  });
  return {
    kind: takes.length === 0 ? 'waits' : 'carried',
    route,
    path,
    carriers: asked.map((one) => ({
      carrier: one,
      state: availabilityWords(availabilities.get(one)),
      takes: takes.includes(one),
    })),
    others,
    verdict:
      takes.length === 0
        ? 'Nobody at the moment: it would be accepted and wait.'
        : `${takes.join(' or ')} would carry it.`,
    by:
      route === undefined
        ? `No route is configured: the carriers with ${path} in their \`paths\` share it.`
        : `By the route ${route._id} (${matchText(route.match)}): ${groupsText(route.groups)}, the next one after ${route.waitSeconds} s.`,
  };
}

async function readAvailabilities(
  db: Db,
  carriers: Awaited<ReturnType<typeof listCarriers>>,
  now: Date,
): Promise<ReadonlyMap<string, Availability>> {
  const leases = carriers.map(({ _id }) => carrierLease(_id));
  const [epochs, reports] = await Promise.all([heldEpochs(db, leases, now), readBindReports(db)]);
  return new Map(
    carriers.map((one) => [one._id, availabilityOf(one, epochs.get(carrierLease(one._id)), reports.get(one._id), now)]),
  );
}

function availabilityWords({ state, since, behindSince }: Availability = { state: 'down' }): string {
  const from = since === undefined ? '' : ` since ${since.toISOString()}`;
  const behind = behindSince === undefined ? '' : `, behind since ${behindSince.toISOString()}`;
  switch (state) {
    case 'up':
      return `up${behind}`;
    case 'tripped':
      return `refuses nearly everything: only what no other can take${behind}`;
    case 'down':
      return `down${from}`;
    case 'paused':
      return 'paused';
  }
}

export function groupsText(all: RouteDocument['groups']): string {
  if (all.length === 0) return 'none: refused';
  const one = ({ carrier, weight }: WeightedCarrier, alone: boolean): string =>
    alone ? carrier : `${carrier}:${weight}`;
  return all.map((group) => group.map((each) => one(each, group.length === 1)).join(',')).join(';');
}

export function matchText(match: RouteMatch): string {
  const words = Object.entries(match).map(
    ([name, values]: [string, readonly string[]]) => `${NAMES[name] ?? name} ${values.join(',')}`,
  );
  return words.length === 0 ? 'everything' : words.join(' · ');
}

const NAMES: Readonly<Record<string, string>> = {
  routes: 'route',
  countries: 'country',
  prefixes: 'prefix',
  senders: 'sender',
  senderKinds: 'sender kind',
  accounts: 'account',
  priorities: 'priority',
};
