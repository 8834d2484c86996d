import { setTimeout } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Clock } from '../../shared/platform/runtime/clock.ts';

/** The embedded store does one command at a time; MongoDB many, and a replica set is slow with small groups. */
export type StoreKind = 'embedded' | 'mongodb';

/** Removes old documents in groups along `_id`, which sorts by time. It can end anywhere; the next walk goes on. */
export interface PruneWalk<Found extends { readonly _id: string }> {
  /** Documents that one command looks at: some 10 ms of work for the embedded store, some 50 ms for MongoDB. */
  readonly group: Readonly<Record<StoreKind, number>>;
  /** The documents with old ids after `after`, in the order of their ids, whether they can be removed or not. */
  look(after: Found['_id'] | undefined, limit: number): Promise<readonly Found[]>;
  /** Removes those of `found` that can be removed; its filter states the whole condition again. Returns how many. */
  remove(found: readonly Found[]): Promise<number>;
}

export interface PrunePace {
  readonly store: StoreKind;
  mayGoOn(): boolean;
  readonly rests: Rests;
}

const PAUSE_MAX_MS = 5_000;

/** Pauses between commands: `perWork` times as long as the command took, at least `leastMs`. */
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

  get workedMs(): number {
    return this.#workedMs + this.#clock.monotonicMs() - this.#sinceMs;
  }
}

/** Removes a group at a time, and yields how many documents were removed. Throws the driver's error. */
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

export function idsOf<Found extends { readonly _id: string }>(
  found: readonly Found[],
): { readonly $gte: Found['_id']; readonly $lte: Found['_id'] } {
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined) throw new Error('nothing was found');
  return { $gte: first._id, $lte: last._id };
}
