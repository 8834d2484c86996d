import type { Db } from 'mongodb';
import { listOfPath } from '../../shared/carriers/routing/route.ts';
import { readTable } from '../../shared/carriers/routing/store.ts';
import { NOWHERE, placementOf, type RouteTable } from '../../shared/carriers/routing/table.ts';
import type { Claim, MessageDocument } from '../../shared/messages/document/message.ts';
import { MIXED, type QueueDocument, unpackLines } from '../../shared/messages/queue/queue-document.ts';
import {
  claimLines,
  closeClaims,
  queueOf,
  readQueued,
  requeue,
  takeOverClaims,
  writeAllOut,
} from '../../shared/messages/queue/queue-store.ts';
import { findAtOnce } from '../../shared/platform/mongo/find-one.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { newId, type QueueId } from '../../shared/platform/runtime/ids.ts';

export interface RerouteDeps {
  readonly db: Db;
  readonly clock: Clock;
  held(): boolean;
  holder(): Pick<Claim, 'carrier' | 'epoch'>;
}

/** About as many messages are moved together: the store updates them in one piece, and others wait some 20 ms. */
const SLICE = 250;
const DOCUMENTS_MAX = 100;
/** A gateway may use the earlier routes for two seconds more, so all paths are read again after this time. */
const AGAIN_MS = 3_000;

/**
 * Gives waiting messages the path that the current routes say: all messages after a change of the routes, otherwise
 * those on a path that no carrier serves. A run looks at each path that has messages, by one read each.
 *
 * A queue document has one path, so a document with messages that must move is written out and its lines are claimed,
 * as by a carrier. Then its queued messages get their paths, and new lines there. After a crash the next run finds the
 * claims and gives the lines back.
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
    const { db, clock, held, holder } = this.#deps;
    const { carrier, epoch } = holder();
    await takeOverClaims(db, carrier, epoch, clock.now(), true);
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

  async #next(behind: string): Promise<string | undefined> {
    const [first] = await findAtOnce<QueueDocument>(this.#deps.db, 'queue', {
      filter: { path: { $gt: behind }, open: true },
      projection: { path: 1 },
      sort: { path: 1, lane: 1, account: 1, _id: 1 },
      limit: 1,
    });
    return first?.path;
  }

  async #place(table: RouteTable, path: string): Promise<number> {
    const { db, held } = this.#deps;
    await this.#split(table, path);
    const cursor = queueOf(db)
      .find({ path, open: true, account: { $ne: MIXED } }, { batchSize: DOCUMENTS_MAX })
      .sort({ path: 1, lane: 1, account: 1, _id: 1 });
    let moved = 0;
    let some: QueueDocument[] = [];
    let lines = 0;
    for await (const document of cursor) {
      some.push(document);
      lines += document.n - document.next;
      if (lines < SLICE && some.length < DOCUMENTS_MAX) continue;
      moved += await this.#placeSome(table, path, some);
      some = [];
      lines = 0;
      if (!held()) return moved;
    }
    return moved + (await this.#placeSome(table, path, some));
  }

  /** Writes out mixed documents with messages that must move: their lines are then among those of single accounts. */
  async #split(table: RouteTable, path: string): Promise<void> {
    const { db, clock } = this.#deps;
    const stale: QueueId[] = [];
    for await (const document of queueOf(db).find({ path, open: true, account: MIXED })) {
      if (linesLeft(document).some((message) => moves(message, placementOf(table, message)))) stale.push(document._id);
    }
    await writeAllOut(db, clock.now(), { _id: { $in: stale } });
  }

  async #placeSome(table: RouteTable, path: string, documents: readonly QueueDocument[]): Promise<number> {
    const { db } = this.#deps;
    const some = documents.map((document) => ({ document, left: linesLeft(document) }));
    const written = some.flatMap(({ document, left }) => (document.written ? left : []));
    const stored = new Map((await readQueued(db, written)).map((message) => [message._id, message]));
    const stale = some.filter(({ document, left }) => {
      const waiting = document.written ? left.flatMap(({ _id }) => stored.get(_id) ?? []) : left;
      if (waiting.some((message) => moves(message, placementOf(table, message)))) return true;
      // If no message waits here any more, nobody else would remove the document on a path without a carrier.
      return waiting.every((message) => message.path !== path);
    });
    return stale.length === 0
      ? 0
      : this.#move(
          table,
          path,
          stale.map(({ document }) => document),
        );
  }

  async #move(table: RouteTable, path: string, documents: readonly QueueDocument[]): Promise<number> {
    const { db, clock, holder } = this.#deps;
    const now = clock.now();
    const ids = { _id: { $in: documents.map(({ _id }) => _id) } };
    await writeAllOut(db, now, ids);
    const heads = await queueOf(db)
      .find({ ...ids, open: true, written: true })
      .toArray();
    const { carrier, epoch } = holder();
    const picks = heads.map((head) => ({ head, to: head.n }));
    const claim = { id: newId('clm'), carrier, epoch, at: now };
    const ours = await claimLines(db, claim, picks);
    const lines = heads.filter(({ _id }) => ours.has(_id)).flatMap(linesLeft);
    const moved = await this.#placeMessages(table, path, await readQueued(db, lines));
    await requeue(db, await readQueued(db, lines));
    await closeClaims(db, [...ours], { id: claim.id }, now);
    // A carrier claimed some of these at the same moment.
    const others = heads.filter(({ _id }) => !ours.has(_id));
    return others.length === 0 ? moved : moved + (await this.#move(table, path, others));
  }

  /** Only messages that still wait on their old path: not those cancelled or expired at the same moment. */
  async #placeMessages(table: RouteTable, path: string, waiting: readonly MessageDocument[]): Promise<number> {
    const groups = new Map<string, MessageDocument[]>();
    for (const message of waiting) {
      const place = placementOf(table, message);
      if (!moves(message, place)) continue;
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

function moves({ path, routed }: MessageDocument, place: Pick<MessageDocument, 'path' | 'routed'>): boolean {
  return place.path !== path || place.routed?.route !== routed?.route;
}

function linesLeft({ lines, next }: QueueDocument): readonly MessageDocument[] {
  return unpackLines(lines).slice(next);
}
