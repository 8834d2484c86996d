import { setTimeout } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Clock } from '../../shared/platform/runtime/clock.ts';

/**
 * On the embedded store everybody waits while a command is done. MongoDB does many at once, and a replica set takes longer to tell
 * its members of a small group than to remove it.
 */
export type StoreKind = 'embedded' | 'mongodb';

/**
 * Removes old documents in groups along `_id`, which sorts by time. A pause follows each group. A walk can end between any two
 * commands (the lease was lost, the process died). Removed documents stay removed, and the next walk continues with the rest.
 */
export interface PruneWalk<Found extends { readonly _id: string }> {
  /** How many documents one command looks at: as many as the embedded store reads and removes within some 10 ms, MongoDB some 50 ms. */
  readonly group: Readonly<Record<StoreKind, number>>;
  /** The documents with old ids after `after`, in the order of their ids, whether they can be removed or not. */
  look(after: Found['_id'] | undefined, limit: number): Promise<readonly Found[]>;
  /**
   * Removes those of `found` that can be removed. Its filter states the whole condition again. Returns how many were
   * removed.
   */
  remove(found: readonly Found[]): Promise<number>;
}

/** How fast a walk goes, and how long. */
export interface PrunePace {
  readonly store: StoreKind;
  /** Whether the lease is still held. Asked before each command. */
  mayGoOn(): boolean;
  readonly rests: Rests;
}

const PAUSE_MAX_MS = 5_000;

/** The pauses between two commands: `perWork` times as long as the command took, so that a busy store gets less to do; at least `leastMs`. */
export class Rests {
  readonly #clock: Clock;
  readonly #pause: { readonly leastMs: number; readonly perWork: number };
  #sinceMs: number;
  #workedMs = 0;

  constructor(clock: Clock, pause: { readonly leastMs: number; readonly perWork: number }) {
    this.#clock = clock;
    this.#pause = pause;
    this.#sinceMs = clock.monotonicMs();
  }

  async pause(): Promise<void> {
    const { leastMs, perWork } = this.#pause;
    const tookMs = this.#clock.monotonicMs() - this.#sinceMs;
    this.#workedMs += tookMs;
    await setTimeout(Math.min(Math.max(leastMs, perWork * tookMs), PAUSE_MAX_MS));
    this.#sinceMs = this.#clock.monotonicMs();
  }

  /** How long the commands took together. */
  get workedMs(): number {
    return this.#workedMs + this.#clock.monotonicMs() - this.#sinceMs;
  }
}

/** Goes on by one group each time, and yields how many documents were removed. Throws the driver's error. */
export async function* pruneAlong<Found extends { readonly _id: string }>(
  walk: PruneWalk<Found>,
  { store, mayGoOn }: PrunePace,
): AsyncGenerator<number, void> {
  const group = walk.group[store];
  let after: Found['_id'] | undefined;
  while (mayGoOn()) {
    const found = await walk.look(after, group);
    after = found.at(-1)?._id;
    if (after === undefined || !mayGoOn()) return;
    yield await walk.remove(found);
    if (found.length < group) return;
  }
}

/** Looks along `_id`: from `from` on, below `below`, at what `where` matches. */
export function along<Found extends { readonly _id: string }>(
  db: Db,
  collection: string,
  { from, below, where, fields }: { from?: string | undefined; below?: string; where?: object; fields?: object },
): PruneWalk<Found>['look'] {
  return async (after, limit) => {
    const begin = after === undefined ? from && { $gte: from } : { $gt: after };
    const _id = { ...begin, ...(below !== undefined && { $lt: below }) };
    const found = await db
      .collection<{ readonly _id: string }>(collection)
      .find({ ...where, ...(Object.keys(_id).length > 0 && { _id }) }, { projection: { _id: 1, ...fields } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    return found as readonly unknown[] as readonly Found[]; // the projection has its fields
  };
}

/** The range of the ids of `found`. */
export function idsOf<Found extends { readonly _id: string }>(
  found: readonly Found[],
): { readonly $gte: Found['_id']; readonly $lte: Found['_id'] } {
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined) throw new Error('nothing was found');
  return { $gte: first._id, $lte: last._id };
}
