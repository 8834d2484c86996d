import type { Collection, Db } from 'mongodb';
import type { ListenForChanges } from '../../shared/mongo/change-signal.ts';
import { isDuplicateKey } from '../../shared/mongo/errors.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { Grouper } from '../../shared/runtime/grouper.ts';
import { newId } from '../../shared/runtime/ids.ts';
import { type Counted, Loans } from './loans.ts';
import { countPipeline, type Grant, type RateDocument, WINDOW_MS } from './window.ts';

interface Item {
  readonly key: string;
  readonly limit: number;
}

/** A request to count this many events of one key. */
interface Wanted {
  readonly n: number;
  readonly limit: number;
}

/** The result of a group's events of one key. */
interface Total extends Grant {
  readonly restMs: number;
  /** Another counter holds a loan that it may give back. */
  readonly lentToOthers: boolean;
}

interface Outcome {
  readonly counted: Counted;
  /** Set when the limit is used up, loans included. */
  readonly full: FullWindow | undefined;
  readonly lentToOthers: boolean;
}

interface FullWindow {
  readonly count: number;
  /** The window lasts at least until then. */
  readonly runsUntilMs: number;
  readonly endsMs: number;
}

/** The most events of one group. With 1,000 different keys its commands have some 40 KB. */
const GROUP_MAX = 1_000;
/** How many exhausted keys are remembered. Forgetting one costs the store one more count. */
const FULL_MAX = 10_000;
/**
 * Up to this many keys are counted one by one, at the same time. That takes one round trip instead of two, for little
 * more work.
 */
const ALONE_MAX = 3;
/** When two processes create the same document at once, the second finds it on its next try. */
const TRIES = 3;
/**
 * For this long nobody is refused while other counters may still return loans. They check for that four times a
 * second. A counter that died returns nothing.
 */
const RECALL_MS = 2_000;
const RECALL_PAUSE_MS = 50;

/**
 * Counts events of many keys exactly, over all processes. Events that arrive while a count is in flight are counted
 * together in the next one: a single key by one update, many keys by one command of updates and one read. So the cost
 * per event falls as the load rises.
 *
 * Far from the limit a count also borrows events for later (loans.ts), so most events need no command. A key whose
 * limit is used up is refused without the store until its window ends. Refused events are not counted.
 */
export class RateCounter {
  readonly #rate: Collection<RateDocument>;
  readonly #clock: Clock;
  /** This counter's name in the documents. A restarted process gets a new one. */
  readonly #name = newId('ctr');
  readonly #full = new Map<string, FullWindow>();
  readonly #counting = new Set<string>();
  readonly #loans: Loans;
  readonly #grouper: Grouper<Item, Outcome>;

  /** `listen` reports changes of the counts. */
  constructor({
    db,
    clock,
    listen,
  }: {
    readonly db: Db;
    readonly clock: Clock;
    readonly listen?: ListenForChanges | undefined;
  }) {
    this.#rate = db.collection<RateDocument>('rate');
    this.#clock = clock;
    this.#loans = new Loans({ rate: this.#rate, clock, counter: this.#name, counting: this.#counting, listen });
    this.#grouper = new Grouper({ maxItems: GROUP_MAX, gatherMs: 0, run: (items) => this.#countTogether(items) });
  }

  /** Rejects with the store's error. The event may have been counted then, so it must not pass. */
  async count(key: string, limit: number): Promise<Counted> {
    const known = this.#loans.take(key, limit) ?? this.#refused(key, limit);
    if (known !== undefined) return known;
    const deadline = this.#clock.monotonicMs() + RECALL_MS;
    for (;;) {
      const { counted, full, lentToOthers } = await this.#grouper.add({ key, limit });
      const final = counted.rank <= limit || !lentToOthers || this.#clock.monotonicMs() >= deadline;
      if (final && full !== undefined && (!lentToOthers || counted.rank > limit)) this.#remember(key, full);
      if (final) return counted;
      await new Promise((resolve) => setTimeout(resolve, RECALL_PAUSE_MS));
    }
  }

  /**
   * Counts `n` events at once and returns the last one. When that one does not pass, earlier ones may have been
   * counted.
   */
  async countMany(key: string, limit: number, n: number): Promise<Counted> {
    const counted = await Promise.all(Array.from({ length: n }, () => this.count(key, limit)));
    return counted.reduce((last, one) => (one.rank > last.rank ? one : last));
  }

  #refused(key: string, limit: number): Counted | undefined {
    const full = this.#full.get(key);
    if (full === undefined) return undefined;
    if (this.#clock.monotonicMs() >= full.runsUntilMs) this.#full.delete(key);
    else if (full.count >= limit) return { rank: limit + 1, endsMs: full.endsMs };
    return undefined;
  }

  async #countTogether(items: readonly Item[]): Promise<readonly Outcome[]> {
    const lent = items.map(({ key, limit }) => this.#loans.take(key, limit));
    const tally = new Map<string, Wanted>();
    items.forEach(({ key, limit }, i) => {
      if (lent[i] === undefined) tally.set(key, { n: (tally.get(key)?.n ?? 0) + 1, limit });
    });
    const sentMs = this.#clock.monotonicMs();
    const totals = await this.#add(tally);
    const receivedMs = this.#clock.monotonicMs();

    for (const [key, { count, loan, restMs }] of totals) {
      const nextRank = count - loan + 1;
      this.#loans.keep(key, { left: loan, nextRank, runsUntilMs: sentMs + restMs, endsMs: receivedMs + restMs });
    }
    const given = new Map<string, number>();
    return items.map(({ key, limit }, i) => {
      const counted = lent[i];
      if (counted !== undefined) return { counted, full: undefined, lentToOthers: false };
      const { count, granted, loan, restMs, lentToOthers } = totals.get(key) ?? unanswered(key);
      const at = (given.get(key) ?? 0) + 1;
      given.set(key, at);
      const endsMs = receivedMs + restMs;
      return {
        counted: { rank: at <= granted ? count - loan - granted + at : limit + 1, endsMs },
        full: count < limit || loan > 0 ? undefined : { count, runsUntilMs: sentMs + restMs, endsMs },
        lentToOthers,
      };
    });
  }

  async #add(tally: ReadonlyMap<string, Wanted>): Promise<ReadonlyMap<string, Total>> {
    for (const key of tally.keys()) this.#counting.add(key);
    try {
      const totals = tally.size <= ALONE_MAX ? new Map<string, Total>() : await this.#addToKnown(tally);
      const rest = [...tally].filter(([key]) => !totals.has(key));
      await Promise.all(rest.map(async ([key, wanted]) => totals.set(key, await this.#addToOne(key, wanted))));
      return totals;
    } finally {
      this.#counting.clear();
    }
  }

  /**
   * The result lacks keys without a document. It also lacks keys for which another process began a new window before
   * the read: their events are counted in the new window.
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
        updateMany: { filter: { _id: { $in: keys } }, update: countPipeline(this.#name, wanted.n, wanted.limit) },
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
        const after = await this.#rate.findOneAndUpdate({ _id: key }, countPipeline(this.#name, n, limit), {
          upsert: true,
          returnDocument: 'after',
          projection: GRANTS,
        });
        return (after && this.#totalOf(after)) ?? unanswered(key);
      } catch (error) {
        if (!isDuplicateKey(error) || tries === TRIES) throw error;
      }
    }
  }

  #totalOf({ window, at }: Pick<RateDocument, 'window' | 'at'>): Total | undefined {
    const mine = window.by[this.#name];
    if (mine === undefined) return undefined;
    return {
      ...mine,
      restMs: window.start.getTime() + WINDOW_MS - at.getTime(),
      lentToOthers: Object.entries(window.by).some(([name, { lent }]) => name !== this.#name && lent > 0),
    };
  }

  #remember(key: string, full: FullWindow): void {
    if (this.#full.size >= FULL_MAX) this.#full.clear();
    this.#full.set(key, full);
  }
}

const GRANTS = { 'window.start': 1, 'window.by': 1, at: 1 } as const;

function unanswered(key: string): never {
  throw new Error(`the store counted nothing for ${key}`);
}
