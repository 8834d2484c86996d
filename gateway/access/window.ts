import type { Collection, Document } from 'mongodb';
import { isDuplicateKey, storeTrouble } from '../../shared/platform/mongo/errors.ts';
import { msOf, NOW_MS } from '../../shared/platform/mongo/store-time.ts';

/**
 * How often something happened within a fixed window of `WINDOW_MS`, which begins with the first event. The document
 * decides for all processes and machines, by the store's clock.
 */
export interface RateDocument {
  /** The counted key: `key:<key id>`, `ip:<address>`. */
  readonly _id: string;
  readonly window: {
    readonly start: Date;
    /** The events that passed plus those given as allowances. Never above the limit. */
    readonly count: number;
    /** Each counter's newest grant. Every process has one counter. */
    readonly by: Readonly<Record<string, Grant>>;
    /** Somebody was refused: counters must return unused allowances, and no more are given. */
    readonly recall?: true;
  };
  /** The store's time of the newest update. */
  readonly at: Date;
}

/** The result of counting a group of events. */
interface Grant {
  /** How many of the group's events pass. */
  readonly granted: number;
  /** Future events, counted already, that the counter may let pass in this window without asking. */
  readonly allowance: number;
  /** The newest allowance, until the counter has returned it. */
  readonly held: number;
  /**
   * The window's count right after the group: its last `allowance` events are future ones, the `granted` before them
   * are the group's.
   */
  readonly count: number;
}

export const WINDOW_MS = 60_000;

export interface Wanted {
  readonly n: number;
  readonly limit: number;
}

export interface Total extends Grant {
  readonly restMs: number;
  /** Another counter holds an allowance that it may return. */
  readonly heldByOthers: boolean;
}

/** Up to this many keys are counted one by one in parallel: one round trip instead of two, for little more work. */
const ALONE_MAX = 3;
/**
 * When two processes create the same document at once, one gets a duplicate key and finds the document on its next try.
 * Some servers count both but return no document to one of them, which then reads it.
 */
const TRIES = 3;
const GRANTS = { 'window.start': 1, 'window.by': 1, at: 1 } as const;

/** Counts in the store: a single key by one update, many keys by one command of updates and one read. */
export class RateWindows {
  readonly #rate: Collection<RateDocument>;
  readonly #counter: string;

  constructor(rate: Collection<RateDocument>, counter: string) {
    this.#rate = rate;
    this.#counter = counter;
  }

  /** The result has every key of `tally`. Rejects with the store's error; some keys may have been counted then. */
  async count(tally: ReadonlyMap<string, Wanted>): Promise<ReadonlyMap<string, Total>> {
    const totals = tally.size <= ALONE_MAX ? new Map<string, Total>() : await this.#addToKnown(tally);
    const rest = [...tally].filter(([key]) => !totals.has(key));
    await Promise.all(rest.map(async ([key, wanted]) => totals.set(key, await this.#addToOne(key, wanted))));
    return totals;
  }

  /**
   * The result lacks keys without a document, and keys for which another process began a new window before the read.
   * The events of the latter are counted in the new window.
   */
  async #addToKnown(tally: ReadonlyMap<string, Wanted>): Promise<Map<string, Total>> {
    const alike = new Map<string, { readonly wanted: Wanted; readonly keys: string[] }>();
    for (const [key, wanted] of tally) {
      const what = `${wanted.n} of ${wanted.limit}`;
      const group = alike.get(what) ?? { wanted, keys: [] };
      group.keys.push(key);
      alike.set(what, group);
    }
    await this.#rate.bulkWrite(
      [...alike.values()].map(({ wanted, keys }) => ({
        updateMany: { filter: { _id: { $in: keys } }, update: countPipeline(this.#counter, wanted.n, wanted.limit) },
      })),
      { ordered: false },
    );
    const found = await this.#rate.find({ _id: { $in: [...tally.keys()] } }, { projection: GRANTS }).toArray();
    const totals = new Map<string, Total>();
    for (const document of found) {
      const total = this.#totalOf(document);
      if (total !== undefined) totals.set(document._id, total);
    }
    return totals;
  }

  async #addToOne(key: string, { n, limit }: Wanted): Promise<Total> {
    for (let tries = 1; ; tries++) {
      try {
        const after = await this.#rate.findOneAndUpdate({ _id: key }, countPipeline(this.#counter, n, limit), {
          upsert: true,
          returnDocument: 'after',
          projection: GRANTS,
        });
        const total = this.#totalOf(after ?? (await this.#rate.findOne({ _id: key }, { projection: GRANTS })));
        if (total !== undefined) return total;
        if (tries === TRIES) unanswered(key);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        if (tries === TRIES) unanswered(key);
      }
    }
  }

  #totalOf(found: Pick<RateDocument, 'window' | 'at'> | null): Total | undefined {
    const mine = found?.window.by[this.#counter];
    if (found === null || mine === undefined) return undefined;
    const { window, at } = found;
    return {
      ...mine,
      restMs: window.start.getTime() + WINDOW_MS - at.getTime(),
      heldByOthers: Object.entries(window.by).some(([name, { held }]) => name !== this.#counter && held > 0),
    };
  }
}

export function unanswered(key: string): never {
  throw storeTrouble(`the store counted nothing for ${key}`);
}

/**
 * The size of an allowance, by how much of the limit is left: at most a twentieth of the limit, so that counters hold
 * few unused events. Near the limit every event is counted by itself.
 */
const ALLOWANCES = [
  { left: 2_560, given: 128 },
  { left: 640, given: 32 },
  { left: 320, given: 16 },
  { left: 160, given: 8 },
  { left: 80, given: 4 },
] as const;

/**
 * Counts as many of `n` events as the limit allows, in the running window or a new one, and gives the counter an
 * allowance for more. A new window also begins when the store's clock was set back by a window or more; otherwise a key
 * could be refused for as long as the clock was wrong.
 */
function countPipeline(counter: string, n: number, limit: number): Document[] {
  const age = { $subtract: [NOW_MS, { $ifNull: [msOf('$window.start'), 0] }] };
  const over = { $or: [{ $gte: [age, WINDOW_MS] }, { $lte: [age, -WINDOW_MS] }] };
  const begun = { start: '$$NOW', count: { $literal: 0 }, by: { $literal: {} } };
  const own = `window.by.${counter}`;
  const granted = { $max: [0, { $min: [n, { $subtract: [limit, '$window.count'] }] }] };
  const left = { $subtract: [limit, { $add: ['$window.count', `$${own}.granted`] }] };
  let allowance: Document | number = 0;
  for (const step of ALLOWANCES.toReversed())
    allowance = { $cond: [{ $gte: [left, step.left] }, step.given, allowance] };
  const recalled = { $eq: ['$window.recall', true] };
  const count = { $add: ['$window.count', `$${own}.granted`, `$${own}.allowance`] };
  return [
    { $set: { window: { $cond: [over, begun, '$window'] }, at: '$$NOW' } },
    { $set: { [`${own}.granted`]: granted } },
    { $set: { [`${own}.allowance`]: { $cond: [recalled, 0, allowance] } } },
    {
      $set: {
        'window.count': count,
        [`${own}.count`]: count,
        // An allowance that is being returned stays: only the return may take it off the count.
        [`${own}.held`]: { $cond: [recalled, { $ifNull: [`$${own}.held`, 0] }, `$${own}.allowance`] },
        'window.recall': { $cond: [{ $or: [recalled, { $lt: [`$${own}.granted`, n] }] }, true, '$$REMOVE'] },
      },
    },
  ];
}
