import type { Collection } from 'mongodb';
import type { ListenForChanges } from '../../shared/platform/runtime/change-signal.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { RateDocument } from './window.ts';

/** Events that a counter may let pass without asking the store, while the window lasts. */
export interface Allowance {
  left: number;
  nextRank: number;
  /** The window lasts at least until this time. */
  readonly runsUntilMs: number;
  readonly endsMs: number;
}

/** How often a counter with allowances checks whether they are wanted back. */
const LOOK_MS = 250;
/** How often it checks if it listens for changes and no change was reported. */
const LISTENING_MS = 1_000;

/**
 * Returns the unused allowances of one counter as soon as somebody is refused, so that nobody is refused because of them.
 * They are already counted: what is returned is taken off the count.
 */
export class AllowanceReturns {
  readonly #rate: Collection<RateDocument>;
  readonly #clock: Clock;
  readonly #counter: string;
  /** Keys with a count in flight. It may bring a new allowance. */
  readonly #counting: ReadonlySet<string>;
  /** The allowances that the counter uses up. An allowance that is returned is removed here first. */
  readonly #allowances: Map<string, Allowance>;
  /** Allowances that are being returned, by key and window. */
  readonly #debts = new Map<string, number>();
  readonly #listen: ListenForChanges | undefined;
  #looking = false;
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** Becomes true when the listener first hears something. Until then it may not work and is not relied on. */
  #heard = false;
  #changed = false;

  constructor(options: {
    readonly rate: Collection<RateDocument>;
    readonly clock: Clock;
    readonly counter: string;
    readonly allowances: Map<string, Allowance>;
    readonly counting: ReadonlySet<string>;
    /** Reports changes of the counts. */
    readonly listen?: ListenForChanges | undefined;
  }) {
    this.#rate = options.rate;
    this.#clock = options.clock;
    this.#counter = options.counter;
    this.#allowances = options.allowances;
    this.#counting = options.counting;
    this.#listen = options.listen;
  }

  /** Checks again and again, until all windows with allowances have ended. */
  look(): void {
    if (this.#looking) return;
    this.#looking = true;
    const deafen = this.#listen?.('rate', () => {
      this.#heard = true;
      this.#changed = true;
    });
    const look = async (): Promise<void> => {
      try {
        if (this.#mayBeWanted()) await this.#giveBack();
      } catch {
        // The store is not available, so it gives no allowance either. A later check repeats this.
        this.#changed = true;
      }
      const nowMs = this.#clock.monotonicMs();
      for (const [key, { runsUntilMs }] of this.#allowances) if (nowMs >= runsUntilMs) this.#allowances.delete(key);
      if (this.#allowances.size > 0) {
        setTimeout(look, LOOK_MS).unref();
        return;
      }
      this.#looking = false;
      this.#debts.clear();
      deafen?.();
    };
    setTimeout(look, LOOK_MS).unref();
  }

  /** A refusal marks the window, and that is a change. If nothing has changed, there is nothing to look for. */
  #mayBeWanted(): boolean {
    const sinceMs = this.#clock.monotonicMs() - this.#lookedMs;
    return !this.#heard || this.#changed || sinceMs >= LISTENING_MS;
  }

  async #giveBack(): Promise<void> {
    this.#lookedMs = this.#clock.monotonicMs();
    this.#changed = false;
    const held = `window.by.${this.#counter}.held` as const;
    const wanted = await this.#rate
      .find({ 'window.recall': true, [held]: { $gt: 0 } }, { projection: { 'window.start': 1, [held]: 1 } })
      .toArray();
    for (const { _id, window } of wanted) {
      if (this.#counting.has(_id)) continue;
      const debt = `${_id} ${window.start.getTime()}`;
      const allowance = this.#allowances.get(_id);
      const { held: most = 0 } = window.by[this.#counter] ?? {};
      // A count whose answer was lost may have left an allowance that nobody knows of; it is unused. The allowance that is known
      // here may belong to an earlier window. So at most what this window gave is returned; otherwise more than its
      // limit could pass.
      const unused = Math.min(this.#debts.get(debt) ?? allowance?.left ?? most, most);
      if (allowance !== undefined) allowance.left = 0;
      // Kept until the store has answered. The update's filter lets it be returned only once.
      this.#debts.set(debt, unused);
      await this.#rate.updateOne(
        { _id, 'window.start': window.start, [held]: { $gt: 0 } },
        { $inc: { 'window.count': -unused }, $set: { [held]: 0 } },
      );
      this.#debts.delete(debt);
    }
  }
}
