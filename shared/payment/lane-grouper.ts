/**
 * Brings what arrives for many lanes (accounts) together into few groups: a group takes what waits in each lane that is not
 * at work, so that one round trip serves several lanes; a lane's items stay in order, because it is in one group at a time.
 * The first item of an idle grouper starts in the same turn. A second group starts beside the first one only when that takes
 * long: a lane does not wait for a slow group of others, and otherwise what arrives meanwhile goes together.
 */
export interface LaneGrouperOptions<Lane, Item, Result> {
  /** The most items of a lane in one group, and the most lanes of a group. */
  readonly maxItems: number;
  readonly maxLanes: number;
  /** Groups at work beside each other, and how long the newest must be at work before another one starts. */
  readonly maxGroups: number;
  readonly patienceMs: number;
  /**
   * Handles one group. The next may start when it resolves; each part's results (in its items' order) may come later, and
   * its lane waits for them. A rejection rejects the items of the group or of the part.
   */
  run(parts: readonly LanePart<Lane, Item>[]): Promise<readonly Promise<readonly Result[]>[]>;
}

export interface LanePart<Lane, Item> {
  readonly lane: Lane;
  readonly items: readonly Item[];
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface LaneState<Item, Result> {
  waiting: Waiting<Item, Result>[];
  working: boolean;
}

export class LaneGrouper<Lane, Item, Result> {
  readonly #options: LaneGrouperOptions<Lane, Item, Result>;
  readonly #lanes = new Map<Lane, LaneState<Item, Result>>();
  /** Not at work and with something waiting, longest first. */
  readonly #ready = new Set<Lane>();
  #groups = 0;
  #startPlanned = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(options: LaneGrouperOptions<Lane, Item, Result>) {
    this.#options = options;
  }

  /** True when nothing waits and nothing is at work in the lane. */
  idle(lane: Lane): boolean {
    return !this.#lanes.has(lane);
  }

  add(lane: Lane, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      let state = this.#lanes.get(lane);
      if (state === undefined) {
        state = { waiting: [], working: false };
        this.#lanes.set(lane, state);
      }
      state.waiting.push({ item, resolve, reject });
      if (state.working) return;
      this.#ready.add(lane);
      this.#plan();
    });
  }

  /** Starts a group at the end of this turn, with all that the turn brings, if one may start now. */
  #plan(): void {
    if (this.#startPlanned || this.#ready.size === 0) return;
    const { maxGroups } = this.#options;
    if (this.#groups >= maxGroups || (this.#groups > 0 && this.#patience !== undefined)) return;
    this.#startPlanned = true;
    setImmediate(() => {
      this.#startPlanned = false;
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    const parts = this.#take();
    this.#groups += 1;
    clearTimeout(this.#patience);
    const patience = setTimeout(() => this.#lose(patience), this.#options.patienceMs);
    this.#patience = patience;
    try {
      const results = await this.#options.run(
        parts.map(({ lane, taken }) => ({ lane, items: taken.map(({ item }) => item) })),
      );
      parts.forEach((part, i) => void this.#give(part, results[i]));
    } catch (error) {
      for (const { lane, taken } of parts) {
        for (const entry of taken) entry.reject(error);
        this.#free(lane);
      }
    } finally {
      this.#groups -= 1;
      this.#lose(patience);
    }
  }

  #take(): { readonly lane: Lane; readonly taken: readonly Waiting<Item, Result>[] }[] {
    const parts = [];
    for (const lane of this.#ready) {
      if (parts.length === this.#options.maxLanes) break;
      this.#ready.delete(lane);
      const state = this.#lanes.get(lane);
      if (state === undefined) continue;
      state.working = true;
      parts.push({ lane, taken: state.waiting.splice(0, this.#options.maxItems) });
    }
    return parts;
  }

  /** Hands a part its results when they are there; then its lane may go on. */
  async #give(
    { lane, taken }: { readonly lane: Lane; readonly taken: readonly Waiting<Item, Result>[] },
    coming: Promise<readonly Result[]> | undefined,
  ): Promise<void> {
    try {
      const results = (await coming) ?? [];
      taken.forEach((entry, i) => {
        if (i < results.length)
          entry.resolve(results[i] as Result); // in range: checked in this line's condition
        else entry.reject(new Error('a group gave fewer results than items'));
      });
    } catch (error) {
      for (const entry of taken) entry.reject(error);
    }
    this.#free(lane);
  }

  #free(lane: Lane): void {
    const state = this.#lanes.get(lane);
    if (state === undefined) return;
    state.working = false;
    if (state.waiting.length === 0) {
      this.#lanes.delete(lane);
    } else {
      this.#ready.add(lane);
      this.#plan();
    }
  }

  /** The newest group has ended, or has been at work for long: another one may start. */
  #lose(patience: NodeJS.Timeout): void {
    clearTimeout(patience);
    if (this.#patience === patience) this.#patience = undefined;
    this.#plan();
  }
}
