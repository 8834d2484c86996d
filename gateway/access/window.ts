import type { Document } from 'mongodb';

/**
 * How often something happened within a fixed window of `WINDOW_MS`. The window begins with the first event. One
 * document per counted key decides for all processes and machines, by the store's clock.
 */
export interface RateDocument {
  /** The counted key: `key:<key id>`, `ip:<address>`. */
  readonly _id: string;
  readonly window: {
    readonly start: Date;
    /** Events that passed, and events that were lent. Never above the limit. */
    readonly count: number;
    /** What the newest group of each counter got. Each process has one counter. */
    readonly by: Readonly<Record<string, Grant>>;
    /** Somebody was refused: counters must return unused loans, and nothing more is lent. */
    readonly recall?: true;
  };
  /** The store's time of the newest update. With `start` it says how long the window still lasts. */
  readonly at: Date;
}

/** What a group of events got. */
export interface Grant {
  /** How many of the group's events pass. */
  readonly granted: number;
  /** Future events that the counter may let pass by itself in this window. They are counted together with the group. */
  readonly loan: number;
  /** The newest loan, until the counter has returned it. */
  readonly lent: number;
  /**
   * The window's count right after the group. The last `loan` of it are future events, the `granted` before them the
   * group's.
   */
  readonly count: number;
}

export const WINDOW_MS = 60_000;

const EPOCH = new Date(0);

/**
 * The size of a loan, by how much of the limit is left. A loan is at most a twentieth of the limit, so that counters
 * hold few unused events. Near the limit nothing is lent and each event is counted by itself.
 */
const LOANS = [
  { left: 2_560, lent: 128 },
  { left: 640, lent: 32 },
  { left: 320, lent: 16 },
  { left: 160, lent: 8 },
  { left: 80, lent: 4 },
] as const;

/**
 * Counts as many of `n` events as the limit allows, in the running window or in a new one, and lends the counter some
 * more. A new window also begins if the store's clock was set back by a window or more. Otherwise a key could be
 * refused for as long as the clock was wrong.
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
        // Keeps a loan that is being returned. Only the return may take it off the count.
        [`${own}.lent`]: { $cond: [recalled, { $ifNull: [`$${own}.lent`, 0] }, `$${own}.loan`] },
        'window.recall': { $cond: [{ $or: [recalled, { $lt: [`$${own}.granted`, n] }] }, true, '$$REMOVE'] },
      },
    },
  ];
}
