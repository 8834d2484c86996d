import type { Collection, Db } from 'mongodb';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { Grouper } from '../../shared/platform/runtime/grouper.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { type RateDocument, RateWindows, type Total, unanswered, type Wanted } from './window.ts';

interface Item {
  readonly key: string;
  readonly limit: number;
}

export interface Counted {
  /** Its number in the window, from 1. The event passes if this is not above the limit. */
  readonly rank: number;
  /** By the monotonic clock: the window has certainly ended then. */
  readonly endsMs: number;
}

interface Outcome {
  readonly counted: Counted;
  /** Set when the limit, allowances included, is used up. */
  readonly full: FullWindow | undefined;
  readonly heldByOthers: boolean;
}

interface FullWindow {
  readonly count: number;
  /** The window certainly lasts until then. */
  readonly runsUntilMs: number;
  readonly endsMs: number;
}

/** Events that a counter may let pass in this window without asking the store. */
interface Allowance {
  left: number;
  nextRank: number;
  readonly runsUntilMs: number;
  readonly endsMs: number;
}

/** The most events of one group. With 1,000 different keys its commands take some 40 KB. */
const GROUP_MAX = 1_000;
/** How many used-up keys are remembered. Forgetting one costs one count in the store. */
const FULL_MAX = 10_000;
/** The most keys with allowances; events of further keys are counted one by one. */
const ALLOWANCES_MAX = 20_000;
/**
 * For this long nobody is refused while other counters may still return allowances. A counter whose process died
 * returns nothing.
 */
const RECALL_MS = 2_000;
const RECALL_PAUSE_MS = 50;
/** How often a counter with allowances checks whether they are wanted back. */
const LOOK_MS = 250;

/**
 * Counts events of many keys exactly, over all processes. Events that arrive while a count is in flight are counted
 * together in the next one (window.ts), so the cost per event falls with the load. Far from the limit a count also
 * takes an allowance: future events, counted already, that later pass without a command (measured in
 * docs/performance.md).
 *
 * A key whose limit is used up is refused without the store until its window ends. Refused events are not counted.
 */
export class RateCounter {
  readonly #rate: Collection<RateDocument>;
  readonly #windows: RateWindows;
  readonly #clock: Clock;
  /** This counter's name in the documents. A restarted process gets a new one. */
  readonly #name = newId('ctr');
  readonly #allowances = new Map<string, Allowance>();
  /** Allowances being returned, by key and window. */
  readonly #debts = new Map<string, number>();
  #looking = false;
  readonly #full = new Map<string, FullWindow>();
  /** Keys with a count in flight, which may bring a new allowance. */
  readonly #counting = new Set<string>();
  readonly #grouper: Grouper<Item, Outcome>;

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#rate = db.collection<RateDocument>('rate');
    this.#windows = new RateWindows(this.#rate, this.#name);
    this.#clock = clock;
    this.#grouper = new Grouper({ maxItems: GROUP_MAX, gatherMs: 0, run: (items) => this.#countTogether(items) });
  }

  /** Rejects with the store's error. The event may have been counted, but must not pass. */
  async count(key: string, limit: number): Promise<Counted> {
    const known = this.#fromAllowance(key, limit) ?? this.#refused(key, limit);
    if (known !== undefined) return known;
    const deadline = this.#clock.monotonicMs() + RECALL_MS;
    for (;;) {
      const { counted, full, heldByOthers } = await this.#grouper.add({ key, limit });
      const final = counted.rank <= limit || !heldByOthers || this.#clock.monotonicMs() >= deadline;
      if (final && full !== undefined && (!heldByOthers || counted.rank > limit)) this.#remember(key, full);
      if (final) return counted;
      await new Promise((resolve) => setTimeout(resolve, RECALL_PAUSE_MS));
    }
  }

  /** Counts `n` events and returns the last. If that does not pass, earlier ones may have been counted. */
  async countMany(key: string, limit: number, n: number): Promise<Counted> {
    const counted = await Promise.all(Array.from({ length: n }, () => this.count(key, limit)));
    return counted.reduce((last, one) => (one.rank > last.rank ? one : last));
  }

  #fromAllowance(key: string, limit: number): Counted | undefined {
    const allowance = this.#allowances.get(key);
    if (allowance === undefined || allowance.left === 0 || allowance.nextRank > limit) return undefined;
    if (this.#clock.monotonicMs() >= allowance.runsUntilMs) return undefined;
    allowance.left -= 1;
    return { rank: allowance.nextRank++, endsMs: allowance.endsMs };
  }

  #keep(key: string, allowance: Allowance): void {
    if (allowance.left === 0 || (this.#allowances.size >= ALLOWANCES_MAX && !this.#allowances.has(key))) return;
    this.#allowances.set(key, allowance);
    this.#look();
  }

  #refused(key: string, limit: number): Counted | undefined {
    const full = this.#full.get(key);
    if (full === undefined) return undefined;
    if (this.#clock.monotonicMs() >= full.runsUntilMs) this.#full.delete(key);
    else if (full.count >= limit) return { rank: limit + 1, endsMs: full.endsMs };
    return undefined;
  }

  async #countTogether(items: readonly Item[]): Promise<readonly Outcome[]> {
    const fromAllowance = items.map(({ key, limit }) => this.#fromAllowance(key, limit));
    const tally = new Map<string, Wanted>();
    items.forEach(({ key, limit }, i) => {
      if (fromAllowance[i] === undefined) tally.set(key, { n: (tally.get(key)?.n ?? 0) + 1, limit });
    });
    const sentMs = this.#clock.monotonicMs();
    const totals = await this.#add(tally);
    const receivedMs = this.#clock.monotonicMs();

    for (const [key, { count, allowance, restMs }] of totals) {
      const nextRank = count - allowance + 1;
      this.#keep(key, { left: allowance, nextRank, runsUntilMs: sentMs + restMs, endsMs: receivedMs + restMs });
    }
    const given = new Map<string, number>();
    return items.map(({ key, limit }, i) => {
      const counted = fromAllowance[i];
      if (counted !== undefined) return { counted, full: undefined, heldByOthers: false };
      const { count, granted, allowance, restMs, heldByOthers } = totals.get(key) ?? unanswered(key);
      const at = (given.get(key) ?? 0) + 1;
      given.set(key, at);
      const endsMs = receivedMs + restMs;
      return {
        counted: { rank: at <= granted ? count - allowance - granted + at : limit + 1, endsMs },
        full: count < limit || allowance > 0 ? undefined : { count, runsUntilMs: sentMs + restMs, endsMs },
        heldByOthers,
      };
    });
  }

  async #add(tally: ReadonlyMap<string, Wanted>): Promise<ReadonlyMap<string, Total>> {
    for (const key of tally.keys()) this.#counting.add(key);
    try {
      return await this.#windows.count(tally);
    } finally {
      this.#counting.clear();
    }
  }

  #remember(key: string, full: FullWindow): void {
    if (this.#full.size >= FULL_MAX) this.#full.clear();
    this.#full.set(key, full);
  }

  /**
   * Returns unused allowances as soon as somebody is refused, so that nobody is refused because of them. Returned
   * events are taken off the count. Repeats until all windows with allowances have ended.
   */
  #look(): void {
    if (this.#looking) return;
    this.#looking = true;
    const look = async (): Promise<void> => {
      // Errors are ignored: while the store is down it gives no allowances either, and the next look repeats this.
      await this.#giveBack().catch(() => {});
      const nowMs = this.#clock.monotonicMs();
      for (const [key, { runsUntilMs }] of this.#allowances) if (nowMs >= runsUntilMs) this.#allowances.delete(key);
      if (this.#allowances.size > 0) {
        setTimeout(look, LOOK_MS).unref();
        return;
      }
      this.#looking = false;
      this.#debts.clear();
    };
    setTimeout(look, LOOK_MS).unref();
  }

  async #giveBack(): Promise<void> {
    const held = `window.by.${this.#name}.held` as const;
    const wanted = await this.#rate
      .find({ 'window.recall': true, [held]: { $gt: 0 } }, { projection: { 'window.start': 1, [held]: 1 } })
      .toArray();
    for (const { _id, window } of wanted) {
      if (this.#counting.has(_id)) continue;
      const debt = `${_id} ${window.start.getTime()}`;
      const allowance = this.#allowances.get(_id);
      const { held: most = 0 } = window.by[this.#name] ?? {};
      // A count whose answer was lost may have left an unused allowance that we do not know, and the known one may
      // belong to an earlier window. So at most what this window gave is returned; otherwise more than the limit could
      // pass.
      const unused = Math.min(this.#debts.get(debt) ?? allowance?.left ?? most, most);
      if (allowance !== undefined) allowance.left = 0;
      // Kept until the store has answered. The filter lets it be returned only once.
      this.#debts.set(debt, unused);
      await this.#rate.updateOne(
        { _id, 'window.start': window.start, [held]: { $gt: 0 } },
        { $inc: { 'window.count': -unused }, $set: { [held]: 0 } },
      );
      this.#debts.delete(debt);
    }
  }
}
