import type { Document } from 'mongodb';

/**
 * How often something happened within a fixed window of `WINDOW_MS`, which begins with the first time it happens. One
 * document per counted key decides, by the store's time, for all processes and machines.
 */
export interface RateDocument {
  /** What is counted: `key:<key id>`, `ip:<address>`. */
  readonly _id: string;
  readonly window: {
    readonly start: Date;
    readonly count: number;
    /** By counter (one per process): `count` right after its newest group; how a grouped update learns what it got. */
    readonly by: Readonly<Record<string, number>>;
  };
  /** The store's time of the newest update: with `start` it says how long the window still runs. */
  readonly at: Date;
}

export const WINDOW_MS = 60_000;

const EPOCH = new Date(0);

/**
 * Adds `n` to the running window, or begins one with them. A store's clock that was set back by a window or more begins one
 * too; otherwise a key could be shut out for as long as the clock was wrong.
 */
export function countPipeline(counter: string, n: number): Document[] {
  const age = { $subtract: ['$$NOW', { $ifNull: ['$window.start', EPOCH] }] };
  const over = { $or: [{ $gte: [age, WINDOW_MS] }, { $lte: [age, -WINDOW_MS] }] };
  const count = { $add: ['$window.count', n] };
  const running = {
    start: '$window.start',
    count,
    by: { $mergeObjects: ['$window.by', { [counter]: count }] },
  };
  const begun = { start: '$$NOW', count: { $literal: n }, by: { [counter]: { $literal: n } } };
  return [{ $set: { window: { $cond: [over, begun, running] }, at: '$$NOW' } }];
}
