import type { Db } from 'mongodb';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FreshCache } from '../../platform/runtime/fresh-cache.ts';
import { listCarriers } from '../carrier-store.ts';
import { listRoutes } from './store.ts';
import { RouteTable } from './table.ts';

/** A process reads the routes again after this time, so it follows a change within two seconds. */
const FRESH_MS = 1_000;

/**
 * The current routes, for a process that accepts messages or puts them into the queue. Costs two small reads a second, whatever
 * the number of messages. While it is asked all the time, no caller waits for these reads.
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

  /** The routes, ready to be asked. Rejects with the store's error. */
  async table(): Promise<RouteTable> {
    return (await this.#tables.get('all')) ?? new RouteTable([], []);
  }
}

export async function readTable(db: Db): Promise<RouteTable> {
  const [routes, carriers] = await Promise.all([listRoutes(db), listCarriers(db)]);
  return new RouteTable(routes, carriers);
}
