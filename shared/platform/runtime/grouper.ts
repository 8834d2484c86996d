import { systemClock } from './clock.ts';

/**
 * Collects items that arrive while a group is in flight into the next group, so that one round trip and one commit
 * serve many. One group runs at a time. The first item of an idle grouper starts at once (or after `gatherMs`).
 */
interface GrouperOptions<Item, Result> {
  readonly maxItems: number;
  /** How long an idle grouper waits for more items. 0: until the end of the turn. */
  readonly gatherMs: number;
  /** How long a group that is not full waits for more items after the one before. Absent: not at all. */
  readonly pauseMs?: number;
  /** Least time from the start of one group to the start of the next, unless that is full. Absent: none. */
  readonly gapMs?: number;
  /**
   * The sender has a window: it sends no more until some items have their results. A group then starts once it has as
   * many items as the sender lately had without a result (`WindowSeen`): probably no more will come.
   */
  readonly windowed?: boolean;
  /** Results are in the items' order. A rejection rejects every item of the group. */
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
  #inFlight = 0;
  #beganMs = Number.NEGATIVE_INFINITY;
  #endWait: (() => void) | undefined;

  constructor(options: GrouperOptions<Item, Result>) {
    this.#options = options;
    this.#window = options.windowed === true ? new WindowSeen() : undefined;
  }

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
          entry.resolve(result as Result); // in range: checked above
        else entry.reject(new Error('a group gave fewer results than items'));
      });
    } catch (error) {
      this.#inFlight = 0;
      for (const entry of group) entry.reject(error);
    }
  }

  /** Waits for `atLeastMs`, and until the gap is over, unless the next group is full. */
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

/** Learns a sender's window: the most items without a result at once, in the last 5 to 10 active seconds. */
export class WindowSeen {
  #most = 0;
  #mostBefore = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  /** 0 when nothing was noted yet. */
  get most(): number {
    return Math.max(this.#most, this.#mostBefore);
  }

  /** `count`: items without a result, with the one that has just come. */
  note(count: number, nowMs: number): void {
    if (nowMs - this.#sinceMs >= WINDOW_PERIOD_MS) {
      this.#mostBefore = this.#most;
      this.#most = 0;
      this.#sinceMs = nowMs;
    }
    this.#most = Math.max(this.#most, count);
  }
}
