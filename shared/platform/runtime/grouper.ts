import { systemClock } from './clock.ts';

/**
 * Collects items that arrive while a group is in flight into the next group, so that one round trip and one commit serve many.
 * One group runs at a time. The first item of an idle grouper starts at once (or after `gatherMs`), so a single item waits for
 * nobody.
 */
interface GrouperOptions<Item, Result> {
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
  /**
   * The items come from a sender that has a window: it sends no more until some of them have their results. A group then waits no
   * longer once it has as many items as the sender lately had without a result (`WindowSeen`): probably no more will come.
   */
  readonly windowed?: boolean;
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
  readonly #window: WindowSeen | undefined;
  #waiting: Waiting<Item, Result>[] = [];
  #running = false;
  /** How many items the group in flight has. */
  #inFlight = 0;
  #beganMs = Number.NEGATIVE_INFINITY;
  /** Ends the wait for more items, if there is one. */
  #endWait: (() => void) | undefined;

  constructor(options: GrouperOptions<Item, Result>) {
    this.#options = options;
    this.#window = options.windowed === true ? new WindowSeen() : undefined;
  }

  /** True when nothing waits and nothing runs. */
  get idle(): boolean {
    return !this.#running && this.#waiting.length === 0;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#window?.note(this.#waiting.length + this.#inFlight, systemClock.monotonicMs());
      if (this.#running) {
        if (this.#isFull) this.#endWait?.();
        return;
      }
      this.#running = true;
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    const { maxItems, gatherMs, pauseMs = 0 } = this.#options;
    await new Promise((resolve) => setImmediate(resolve));
    await this.#wait(gatherMs);
    while (this.#waiting.length > 0) {
      this.#beganMs = systemClock.monotonicMs();
      await this.#runGroup(this.#waiting.splice(0, maxItems));
      if (this.#waiting.length > 0) await this.#wait(pauseMs);
    }
    this.#running = false;
  }

  async #runGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    this.#inFlight = group.length;
    try {
      const results = await this.#options.run(group.map((entry) => entry.item));
      this.#inFlight = 0;
      group.forEach((entry, i) => {
        const result = results[i];
        if (i < results.length)
          entry.resolve(result as Result); // in range: checked the line above
        else entry.reject(new Error('a group gave fewer results than items'));
      });
    } catch (error) {
      this.#inFlight = 0;
      for (const entry of group) entry.reject(error);
    }
  }

  /** Waits for more items: `atLeastMs`, and until the gap is over. Stops waiting when the next group is full. */
  async #wait(atLeastMs: number): Promise<void> {
    const waitMs = Math.max(atLeastMs, this.#gapLeftMs());
    if (waitMs <= 0 || this.#isFull) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#endWait = undefined;
  }

  /** Asked while no group is in flight: all items without a result are waiting. */
  get #isFull(): boolean {
    return this.#waiting.length >= Math.min(this.#options.maxItems, this.#window?.most ?? Number.POSITIVE_INFINITY);
  }

  #gapLeftMs(): number {
    const { gapMs = 0 } = this.#options;
    // Timers take whole milliseconds and truncate fractions.
    return gapMs === 0 ? 0 : Math.max(Math.ceil(this.#beganMs + gapMs - systemClock.monotonicMs()), 0);
  }
}

const WINDOW_PERIOD_MS = 5_000;

/**
 * Learns the window of a sender that does not tell it: the most items that it had without a result at once, in the last 5 to 10
 * seconds in which any came.
 */
export class WindowSeen {
  #most = 0;
  #mostBefore = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  /** 0 when nothing was noted yet. */
  get most(): number {
    return Math.max(this.#most, this.#mostBefore);
  }

  /** `count`: how many items are without a result, with the one that has just come. */
  note(count: number, nowMs: number): void {
    if (nowMs - this.#sinceMs >= WINDOW_PERIOD_MS) {
      this.#mostBefore = this.#most;
      this.#most = 0;
      this.#sinceMs = nowMs;
    }
    this.#most = Math.max(this.#most, count);
  }
}
