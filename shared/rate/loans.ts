import type { Collection } from 'mongodb';
import type { Clock } from '../runtime/clock.ts';
import type { RateDocument } from './window.ts';

/** One counted event. */
export interface Counted {
  /** Its place in the window, from 1: it passes when this is not above the limit. */
  readonly rank: number;
  /** Of the monotonic clock: the window is over by then, for certain. */
  readonly endsMs: number;
}

interface Loan {
  left: number;
  nextRank: number;
  /** The window runs at least until then. */
  readonly runsUntilMs: number;
  readonly endsMs: number;
}

/** How often a counter that was lent something looks whether it is wanted back. */
const LOOK_MS = 250;
/** Keys for which something is held; with more, each event is counted by itself. */
const LOANS_MAX = 20_000;

/**
 * What the windows have lent to one counter: events that it may let pass without asking the store, as long as the window
 * surely runs. They are counted already, so never more than the limit passes; and what is not used is given back as soon
 * as somebody is refused, so nobody is refused for it.
 */
export class Loans {
  readonly #rate: Collection<RateDocument>;
  readonly #clock: Clock;
  readonly #counter: string;
  /** Keys that are being counted in the store: what they get by that is not known yet. */
  readonly #counting: ReadonlySet<string>;
  readonly #loans = new Map<string, Loan>();
  /** By key and window: what is being given back. */
  readonly #debts = new Map<string, number>();
  #looking = false;

  constructor(options: {
    readonly rate: Collection<RateDocument>;
    readonly clock: Clock;
    readonly counter: string;
    readonly counting: ReadonlySet<string>;
  }) {
    this.#rate = options.rate;
    this.#clock = options.clock;
    this.#counter = options.counter;
    this.#counting = options.counting;
  }

  /** Uses one up; undefined when there is none. */
  take(key: string, limit: number): Counted | undefined {
    const loan = this.#loans.get(key);
    if (loan === undefined || loan.left === 0 || loan.nextRank > limit) return undefined;
    if (this.#clock.monotonicMs() >= loan.runsUntilMs) return undefined;
    loan.left -= 1;
    return { rank: loan.nextRank++, endsMs: loan.endsMs };
  }

  /** What the newest count of the key lent, instead of what was there before. */
  keep(key: string, loan: Loan): void {
    if (loan.left === 0 || (this.#loans.size >= LOANS_MAX && !this.#loans.has(key))) return;
    this.#loans.set(key, loan);
    this.#look();
  }

  /** Looks again and again, until all windows that lent something are over. */
  #look(): void {
    if (this.#looking) return;
    this.#looking = true;
    const timer = setTimeout(async () => {
      try {
        await this.#giveBack();
      } catch {
        // The store is away: until it is back nothing is lent, and the next look does it.
      }
      const nowMs = this.#clock.monotonicMs();
      for (const [key, { runsUntilMs }] of this.#loans) if (nowMs >= runsUntilMs) this.#loans.delete(key);
      this.#looking = false;
      if (this.#loans.size > 0) this.#look();
      else this.#debts.clear();
    }, LOOK_MS);
    timer.unref();
  }

  async #giveBack(): Promise<void> {
    const lent = `window.by.${this.#counter}.lent` as const;
    const wanted = await this.#rate
      .find({ 'window.recall': true, [lent]: { $gt: 0 } }, { projection: { 'window.start': 1, [lent]: 1 } })
      .toArray();
    for (const { _id, window } of wanted) {
      if (this.#counting.has(_id)) continue;
      const debt = `${_id} ${window.start.getTime()}`;
      const loan = this.#loans.get(_id);
      const { lent: most = 0 } = window.by[this.#counter] ?? {};
      // A count whose answer was lost may have lent something that nobody knows of, and nobody used. What is known here may be
      // of the window before: no more than this one lent goes back, or more than its limit would pass.
      const unused = Math.min(this.#debts.get(debt) ?? loan?.left ?? most, most);
      if (loan !== undefined) loan.left = 0;
      // Remembered until it is answered; the filter lets it be paid back once.
      this.#debts.set(debt, unused);
      await this.#rate.updateOne(
        { _id, 'window.start': window.start, [lent]: { $gt: 0 } },
        { $inc: { 'window.count': -unused }, $set: { [lent]: 0 } },
      );
      this.#debts.delete(debt);
    }
  }
}
