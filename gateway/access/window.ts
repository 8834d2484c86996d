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
    /** What passed, and what counters have been lent; never above the limit. */
    readonly count: number;
    /** By counter (one per process): what its newest group got. */
    readonly by: Readonly<Record<string, Grant>>;
    /** Somebody was refused: what is lent and not used is wanted back, and nothing more is lent. */
    readonly recall?: true;
  };
  /** The store's time of the newest update: with `start` it says how long the window still runs. */
  readonly at: Date;
}

/** What a group of events got of the window. */
export interface Grant {
  /** How many of them pass. */
  readonly granted: number;
  /** Events to come that the counter may let pass by itself while the window runs, counted with the group. */
  readonly loan: number;
  /** The newest loan, until the counter has given it back. */
  readonly lent: number;
  /** Of the window, right after: the last `loan` are those to come, the `granted` before them are the group's. */
  readonly count: number;
}

export const WINDOW_MS = 60_000;

const EPOCH = new Date(0);

/**
 * What is lent to a counter, by how much of the limit is left: at most a twentieth, so that what several counters hold
 * unused stays small, and nothing near the limit, where each event is counted by itself.
 */
const LOANS = [
  { left: 2_560, lent: 128 },
  { left: 640, lent: 32 },
  { left: 320, lent: 16 },
  { left: 160, lent: 8 },
  { left: 80, lent: 4 },
] as const;

/**
 * Counts as many of `n` events as the limit allows, in the running window or in a new one, and lends the counter some more.
 * A store's clock that was set back by a window or more begins a new one too; otherwise a key could be shut out for as long
 * as the clock was wrong.
 */
export function countPipeline(counter: string, n: number, limit: number): Document[] {
  const age = { $subtract: ['$$NOW', { $ifNull: ['$window.start', EPOCH] }] };
  const over = { $or: [{ $gte: [age, WINDOW_MS] }, { $lte: [age, -WINDOW_MS] }] };
  const begun = { start: '$$NOW', count: { $literal: 0 }, by: { $literal: {} } };
  const own = `window.by.${counter}`;
  const granted = { $max: [0, { $min: [n, { $subtract: [limit, '$window.count'] }] }] };
  const left = { $subtract: [limit, { $add: ['$window.count', `$${own}.granted`] }] };
  let loan: Document | number = 0;
  for (const step of LOANS.toReversed()) loan = { $cond: [{ $gte: [left, step.left] }, step.lent, loan] };
  const recalled = { $eq: ['$window.recall', true] };
  const count = { $add: ['$window.count', `$${own}.granted`, `$${own}.loan`] };
  return [
    { $set: { window: { $cond: [over, begun, '$window'] }, at: '$$NOW' } },
    { $set: { [`${own}.granted`]: granted } },
    { $set: { [`${own}.loan`]: { $cond: [recalled, 0, loan] } } },
    {
      $set: {
        'window.count': count,
        [`${own}.count`]: count,
        // What is being given back at this moment stays: only that may take it off the count.
        [`${own}.lent`]: { $cond: [recalled, { $ifNull: [`$${own}.lent`, 0] }, `$${own}.loan`] },
        'window.recall': { $cond: [{ $or: [recalled, { $lt: [`$${own}.granted`, n] }] }, true, '$$REMOVE'] },
      },
    },
  ];
}
