import type { Db } from 'mongodb';
import { listCarriers } from '../carriers/store.ts';
import type { Clock } from '../runtime/clock.ts';
import { FreshCache } from '../runtime/fresh-cache.ts';
import { listRoutes } from './store.ts';
import { RouteTable } from './table.ts';

/** Changes count within two seconds: an answer is this old at most when it is read. */
const FRESH_MS = 1_000;

/**
 * The routes for a process that accepts messages or puts them into the queue. Two small reads a second while it is asked, whatever the
 * number of messages; while it is asked all the time, nobody waits for them.
 */
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
