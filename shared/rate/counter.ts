import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../mongo/errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { Grouper } from '../runtime/grouper.ts';
import { newId } from '../runtime/ids.ts';
import { countPipeline, type RateDocument, WINDOW_MS } from './window.ts';

/** One counted event. */
export interface Counted {
  /** Its place in the window, from 1: it passes when this is not above the limit. */
  readonly rank: number;
  /** Of the monotonic clock: the window is over by then, for certain. */
  readonly endsMs: number;
}

interface Item {
  readonly key: string;
  readonly limit: number;
}

/** What a group of one key came to. */
interface Total {
  /** Of the window, after the group. */
  readonly count: number;
  readonly restMs: number;
}

interface FullWindow {
  readonly count: number;
  /** The window runs at least until then. */
  readonly runsUntilMs: number;
  readonly endsMs: number;
}

/** Events of one group; with 1,000 different keys its commands carry some 40 KB. */
const GROUP_MAX = 1_000;
/** Exhausted keys that are remembered; each costs the store one more count when it is forgotten. */
const FULL_MAX = 10_000;
/** So few keys are counted each by itself, at the same time: one round trip instead of two, for little more work. */
const ALONE_MAX = 3;
/** Two processes that begin the same document at once: the second finds it at its next try. */
const TRIES = 3;

/**
 * Counts events of many keys exactly, over all processes. What arrives while one counting is in flight is counted together
 * in the next: a key alone is one update, a group of many keys one command of updates and one read, so that the cost of
 * an event falls as the load rises. A key whose limit is used up is refused here, without the store, as long as
 * its window surely runs.
 */
export class RateCounter {
  readonly #rate: Collection<RateDocument>;
  readonly #clock: Clock;
  /** Names this counter in the documents; a restarted process is another one. */
  readonly #name = newId('ctr');
  readonly #full = new Map<string, FullWindow>();
  readonly #grouper: Grouper<Item, Counted>;

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#rate = db.collection<RateDocument>('rate');
    this.#clock = clock;
    this.#grouper = new Grouper({ maxItems: GROUP_MAX, gatherMs: 0, run: (items) => this.#countTogether(items) });
  }

  /** Rejects with the store's error; the event was then perhaps counted, so it must not pass. */
  async count(key: string, limit: number): Promise<Counted> {
    const full = this.#full.get(key);
    if (full !== undefined) {
      if (this.#clock.monotonicMs() >= full.runsUntilMs) this.#full.delete(key);
      else if (full.count >= limit) return { rank: full.count + 1, endsMs: full.endsMs };
    }
    return this.#grouper.add({ key, limit });
  }

  async #countTogether(items: readonly Item[]): Promise<readonly Counted[]> {
    const tally = new Map<string, number>();
    for (const { key } of items) tally.set(key, (tally.get(key) ?? 0) + 1);
    const sentMs = this.#clock.monotonicMs();
    const totals = await this.#add(tally);
    const receivedMs = this.#clock.monotonicMs();

    const left = new Map(tally);
    return items.map(({ key, limit }) => {
      const total = totals.get(key) ?? unanswered(key);
      const behind = left.get(key) ?? 0;
      left.set(key, behind - 1);
      const endsMs = receivedMs + total.restMs;
      if (total.count >= limit) this.#remember(key, { count: total.count, runsUntilMs: sentMs + total.restMs, endsMs });
      return { rank: total.count - behind + 1, endsMs };
    });
  }

  async #add(tally: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, Total>> {
    const totals = tally.size <= ALONE_MAX ? new Map<string, Total>() : await this.#addToKnown(tally);
    const rest = [...tally].filter(([key]) => !totals.has(key));
    await Promise.all(rest.map(async ([key, n]) => totals.set(key, await this.#addToOne(key, n))));
    return totals;
  }

  /**
   * Keys without a document are left out, and those whose window another process began anew before it could be read here:
   * their events count in the new one.
   */
  async #addToKnown(tally: ReadonlyMap<string, number>): Promise<Map<string, Total>> {
    const byNumber = new Map<number, string[]>();
    for (const [key, n] of tally) {
      const keys = byNumber.get(n);
      if (keys === undefined) byNumber.set(n, [key]);
      else keys.push(key);
    }
    await this.#rate.bulkWrite(
      [...byNumber].map(([n, keys]) => ({
        updateMany: { filter: { _id: { $in: keys } }, update: countPipeline(this.#name, n) },
      })),
      { ordered: false },
    );
    const mine = `window.by.${this.#name}` as const;
    const found = await this.#rate
      .find({ _id: { $in: [...tally.keys()] } }, { projection: { 'window.start': 1, [mine]: 1, at: 1 } })
      .toArray();
    const totals = new Map<string, Total>();
    for (const { _id, window, at } of found) {
      const count = window.by[this.#name];
      if (count !== undefined) totals.set(_id, { count, restMs: restOf(window.start, at) });
    }
    return totals;
  }

  async #addToOne(key: string, n: number): Promise<Total> {
    for (let tries = 1; ; tries++) {
      try {
        const after = await this.#rate.findOneAndUpdate({ _id: key }, countPipeline(this.#name, n), {
          upsert: true,
          returnDocument: 'after',
          projection: { 'window.start': 1, 'window.count': 1, at: 1 },
        });
        if (after === null) return unanswered(key);
        return { count: after.window.count, restMs: restOf(after.window.start, after.at) };
      } catch (error) {
        if (!isDuplicateKey(error) || tries === TRIES) throw error;
      }
    }
  }

  #remember(key: string, full: FullWindow): void {
    if (this.#full.size >= FULL_MAX) this.#full.clear();
    this.#full.set(key, full);
  }
}

function restOf(start: Date, at: Date): number {
  return start.getTime() + WINDOW_MS - at.getTime();
}

function unanswered(key: string): never {
  throw new Error(`the store counted nothing for ${key}`);
}
