import type { Collection, Db } from 'mongodb';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FreshCache } from '../../platform/runtime/fresh-cache.ts';
import { listCarriers } from '../carrier-store.ts';
import type { RouteDocument } from './route.ts';
import { RouteTable } from './table.ts';

/** All processes follow it within two seconds. */
export async function addRoute(db: Db, clock: Clock, route: Omit<RouteDocument, 'createdAt'>): Promise<RouteDocument> {
  const document = { ...route, createdAt: clock.now() };
  await routes(db).insertOne(document);
  return document;
}

export async function replaceRoute(db: Db, route: RouteDocument): Promise<boolean> {
  const { matchedCount } = await routes(db).replaceOne({ _id: route._id }, route);
  return matchedCount === 1;
}

export async function removeRoute(db: Db, name: string): Promise<boolean> {
  const { deletedCount } = await routes(db).deleteOne({ _id: name });
  return deletedCount === 1;
}

/** By name. At most hundreds: every process keeps them in memory. */
export async function listRoutes(db: Db): Promise<readonly RouteDocument[]> {
  return routes(db).find({}, { batchSize: 1_000 }).sort({ _id: 1 }).toArray();
}

function routes(db: Db): Collection<RouteDocument> {
  return db.collection('routes');
}

/** The age at which a process reads the routes again. */
const FRESH_MS = 1_000;

/** The current routes, by two small reads a second at most. Steady callers never wait for these reads. */
export class Routes {
  readonly #tables: FreshCache<'all', RouteTable>;

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#tables = new FreshCache<'all', RouteTable>({
      clock,
      freshMs: FRESH_MS,
      maxEntries: 1,
      readMany: async () => new Map([['all', await readTable(db)]]),
    });
  }

  /** Rejects with the store's error. */
  async table(): Promise<RouteTable> {
    return (await this.#tables.get('all')) ?? new RouteTable([], []);
  }
}

export async function readTable(db: Db): Promise<RouteTable> {
  const [routes, carriers] = await Promise.all([listRoutes(db), listCarriers(db)]);
  return new RouteTable(routes, carriers);
}
