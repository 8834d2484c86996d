/**
 * Removing what is old, for good: along `_id`, which sorts by time, a small group at a time. A store that runs one command
 * after the other is busy for milliseconds, then it is left alone. A walk may end between any two commands (the lease went,
 * the process died): what is over stays over, and the next walk begins where there is something left.
 */
export interface PruneWalk<Found extends { readonly _id: string }> {
  /** Documents that one command looks at: as many as the store reads and removes within some 10 ms. */
  readonly group: number;
  /** Those of old ids behind `after`, in the order of their ids, over or not. */
  look(after: Found['_id'] | undefined, limit: number): Promise<readonly Found[]>;
  /** Removes those of them that are over, by a filter that says it again; returns how many. */
  remove(found: readonly Found[]): Promise<number>;
}

/** How fast a walk goes, and for how long. */
export interface PrunePace {
  /** Whether the lease is still held; asked before each command. */
  mayGoOn(): boolean;
  /** Between two commands: leaves the store to the others. */
  pause(): Promise<void>;
}

/** Returns how many documents were removed. Throws the driver's error. */
export async function pruneAlong<Found extends { readonly _id: string }>(
  walk: PruneWalk<Found>,
  pace: PrunePace,
): Promise<number> {
  let removed = 0;
  let after: Found['_id'] | undefined;
  while (pace.mayGoOn()) {
    const found = await walk.look(after, walk.group);
    after = found.at(-1)?._id;
    if (after === undefined || !pace.mayGoOn()) break;
    removed += await walk.remove(found);
    if (found.length < walk.group) break;
    await pace.pause();
  }
  return removed;
}

/** The ids of what was found, as a range. */
export function idsOf<Found extends { readonly _id: string }>(
  found: readonly Found[],
): { readonly $gte: Found['_id']; readonly $lte: Found['_id'] } {
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined) throw new Error('nothing was found');
  return { $gte: first._id, $lte: last._id };
}
