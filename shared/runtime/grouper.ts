import { systemClock } from './clock.ts';

/**
 * Collects items that arrive while a group is in flight into the next group, so that one round trip and one commit serve many.
 * One group runs at a time. The first item of an idle grouper starts at once (or after `gatherMs`), so a single item waits for
 * nobody.
 */
export interface GrouperOptions<Item, Result> {
  /** The most items of one group. */
  readonly maxItems: number;
  /**
   * How long an idle grouper waits for more items before it starts. 0: it starts at the end of the turn, with everything that
   * arrived in it.
   */
  readonly gatherMs: number;
  /** How long the next group waits for more items after the one before, while it is not full. Absent: not at all. */
  readonly pauseMs?: number;
  /** Least time from the start of one group to the start of the next, while that is not full. Absent: none. */
  readonly gapMs?: number;
  /** Handles one group; the results are in the items' order. A rejection rejects every item of the group. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export class Grouper<Item, Result> {
  readonly #options: GrouperOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #running = false;
  #beganMs = Number.NEGATIVE_INFINITY;

  constructor(options: GrouperOptions<Item, Result>) {
    this.#options = options;
  }

  /** True when nothing waits and nothing runs. */
  get idle(): boolean {
    return !this.#running && this.#waiting.length === 0;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        const waitMs = Math.max(this.#options.gatherMs, this.#gapLeftMs());
        if (waitMs > 0) setTimeout(() => void this.#drain(), waitMs);
        else setImmediate(() => void this.#drain());
      }
    });
  }

  async #drain(): Promise<void> {
    const { maxItems, pauseMs = 0 } = this.#options;
    for (let first = true; this.#waiting.length > 0; first = false) {
      const waitMs = first ? 0 : Math.max(pauseMs, this.#gapLeftMs());
      if (waitMs > 0 && this.#waiting.length < maxItems) await new Promise((resolve) => setTimeout(resolve, waitMs));
      this.#beganMs = systemClock.monotonicMs();
      const group = this.#waiting.splice(0, maxItems);
      try {
        const results = await this.#options.run(group.map((entry) => entry.item));
        group.forEach((entry, i) => {
          const result = results[i];
          if (i < results.length)
            entry.resolve(result as Result); // in range: checked the line above
          else entry.reject(new Error('a group gave fewer results than items'));
        });
      } catch (error) {
        for (const entry of group) entry.reject(error);
      }
    }
    this.#running = false;
  }

  #gapLeftMs(): number {
    const { gapMs = 0 } = this.#options;
    // Timers take whole milliseconds and truncate fractions.
    return gapMs === 0 ? 0 : Math.max(Math.ceil(this.#beganMs + gapMs - systemClock.monotonicMs()), 0);
  }
}
