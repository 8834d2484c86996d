import type { Db } from 'mongodb';
import type { MessageDocument } from '../../shared/messages/message.ts';
import { findAtOnce } from '../../shared/mongo/find-at-once.ts';
import { listOfPath } from '../../shared/routing/path.ts';
import { NOWHERE, placementOf } from '../../shared/routing/placement.ts';
import { readTable } from '../../shared/routing/routes.ts';
import type { RouteTable } from '../../shared/routing/table.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

export interface RerouteDeps {
  readonly db: Db;
  readonly clock: Clock;
  held(): boolean;
}

/** The fields of a message that are read to route it. */
type Waiting = Pick<
  MessageDocument,
  '_id' | 'account' | 'to' | 'sender' | 'route' | 'lane' | 'path' | 'attempts' | 'routed'
>;

/** The most messages in one update. The store runs it in one piece, so other commands wait some 20 ms. */
const SLICE = 250;
/**
 * A gateway follows a change of the routes within two seconds, and uses the earlier routes until then. So all paths are read once
 * more after this time.
 */
const AGAIN_MS = 3_000;

/**
 * Gives waiting messages the path that the current routes say. After a change of the routes this is done for all messages,
 * otherwise only for messages on a path that no carrier serves. A run looks at each path that has messages, by one read each. The
 * update changes a message only if it still waits on its old path. So it does not touch a message that a worker claims at the
 * same moment, and repeating it changes nothing.
 */
export class Reroute {
  readonly #deps: RerouteDeps;
  #known = '';
  #againAtMs = Number.POSITIVE_INFINITY;

  constructor(deps: RerouteDeps) {
    this.#deps = deps;
  }

  /** Returns how many messages got another path. Rejects with the store's error; the next run begins again. */
  async run(): Promise<number> {
    const { db, clock, held } = this.#deps;
    const table = await readTable(db);
    const routes = JSON.stringify(table.routes);
    const changed = routes !== this.#known;
    const all = changed || clock.monotonicMs() >= this.#againAtMs;
    let moved = 0;
    for (let path = await this.#next(''); path !== undefined && held(); path = await this.#next(path)) {
      const unserved = (table.served.get(path) ?? []).length === 0 && path !== NOWHERE;
      // Without routes, a message on the path of a routing group stays there.
      const stays = table.routes.length === 0 && listOfPath(path) === undefined;
      if ((all || unserved) && !stays) moved += await this.#place(table, path);
    }
    if (!held()) return moved;
    this.#known = routes;
    if (changed) this.#againAtMs = clock.monotonicMs() + AGAIN_MS;
    else if (all) this.#againAtMs = Number.POSITIVE_INFINITY;
    return moved;
  }

  /** The next path after this one that has waiting messages. */
  async #next(behind: string): Promise<string | undefined> {
    const [first] = await findAtOnce<MessageDocument>(this.#deps.db, 'messages', {
      filter: { path: { $gt: behind }, state: 'queued' },
      projection: { path: 1 },
      sort: { path: 1, lane: 1, account: 1, _id: 1 },
      limit: 1,
    });
    return first?.path;
  }

  async #place(table: RouteTable, path: string): Promise<number> {
    const { db, held } = this.#deps;
    const cursor = db
      .collection<MessageDocument>('messages')
      .find({ path, state: 'queued' }, { batchSize: SLICE })
      .sort({ path: 1, lane: 1, account: 1, _id: 1 })
      .project<Waiting>({ account: 1, to: 1, sender: 1, route: 1, lane: 1, path: 1, attempts: 1, routed: 1 });
    let moved = 0;
    let slice: Waiting[] = [];
    for await (const message of cursor) {
      slice.push(message);
      if (slice.length < SLICE) continue;
      moved += await this.#placeSlice(table, path, slice);
      slice = [];
      if (!held()) return moved;
    }
    return moved + (await this.#placeSlice(table, path, slice));
  }

  async #placeSlice(table: RouteTable, path: string, slice: readonly Waiting[]): Promise<number> {
    const groups = new Map<string, Waiting[]>();
    for (const message of slice) {
      const place = placementOf(table, message);
      if (place.path === path && place.routed?.route === message.routed?.route) continue;
      const key = JSON.stringify(place);
      groups.set(key, [...(groups.get(key) ?? []), message]);
    }
    let moved = 0;
    for (const [key, messages] of groups) {
      const place: Pick<MessageDocument, 'path' | 'routed'> = JSON.parse(key);
      const { modifiedCount } = await this.#deps.db.collection<MessageDocument>('messages').updateMany(
        { _id: { $in: messages.map(({ _id }) => _id) }, state: 'queued', path },
        {
          $set: place,
          ...(place.routed === undefined ? { $unset: { routed: '' } } : {}),
          $inc: { v: 1 },
        },
      );
      moved += modifiedCount;
    }
    return moved;
  }
}
