export interface KeyedGrouperOptions<Key, Item, Result> {
  readonly maxItems: number;
  readonly maxKeys: number;
  readonly maxGroups: number;
  /** How long the newest group must have been running before another one starts beside it. */
  readonly patienceMs: number;
  /**
   * Handles one group; when it resolves, the next may start. Each part's results are in the order of its items and may
   * come later; until then, the part's key is in no other group. A rejection of the group rejects all its items; that
   * of a part, the part's items.
   */
  run(parts: readonly KeyedPart<Key, Item>[]): Promise<readonly Promise<readonly Result[]>[]>;
}

export interface KeyedPart<Key, Item> {
  readonly key: Key;
  readonly items: readonly Item[];
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue<Item, Result> {
  waiting: Waiting<Item, Result>[];
  working: boolean;
}

interface Taken<Key, Item, Result> {
  readonly key: Key;
  readonly taken: readonly Waiting<Item, Result>[];
}

/**
 * Collects items of many keys (accounts) into few groups, so that one round trip serves several keys. A key is in one
 * group at a time, so its items stay in order. A second group starts only when the first takes long, so that no key
 * waits for a slow group of others, and otherwise groups stay large.
 */
export class KeyedGrouper<Key, Item, Result> {
  readonly #options: KeyedGrouperOptions<Key, Item, Result>;
  readonly #queues = new Map<Key, Queue<Item, Result>>();
  /** Keys that have waiting items and are in no running group, longest waiting first. */
  readonly #ready = new Set<Key>();
  #groups = 0;
  #startPlanned = false;
  #patience: NodeJS.Timeout | undefined;

  constructor(options: KeyedGrouperOptions<Key, Item, Result>) {
    this.#options = options;
  }

  add(key: Key, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      let queue = this.#queues.get(key);
      if (queue === undefined) {
        queue = { waiting: [], working: false };
        this.#queues.set(key, queue);
      }
      queue.waiting.push({ item, resolve, reject });
      if (queue.working) return;
      this.#ready.add(key);
      this.#plan();
    });
  }

  /** Starts a group at the end of this turn, with everything that arrived in the turn, if one may start now. */
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
    const patience = setTimeout(() => this.#mayStartAnother(patience), this.#options.patienceMs);
    this.#patience = patience;
    try {
      const results = await this.#options.run(
        parts.map(({ key, taken }) => ({ key, items: taken.map(({ item }) => item) })),
      );
      parts.forEach((part, i) => void this.#answer(part, results[i]));
    } catch (error) {
      for (const { key, taken } of parts) {
        for (const entry of taken) entry.reject(error);
        this.#free(key);
      }
    } finally {
      this.#groups -= 1;
      this.#mayStartAnother(patience);
    }
  }

  #take(): Taken<Key, Item, Result>[] {
    const parts: Taken<Key, Item, Result>[] = [];
    for (const key of this.#ready) {
      if (parts.length === this.#options.maxKeys) break;
      this.#ready.delete(key);
      const queue = this.#queues.get(key);
      if (queue === undefined) continue;
      queue.working = true;
      parts.push({ key, taken: queue.waiting.splice(0, this.#options.maxItems) });
    }
    return parts;
  }

  /** When the results are delivered, the key may join a group again. */
  async #answer(
    { key, taken }: Taken<Key, Item, Result>,
    coming: Promise<readonly Result[]> | undefined,
  ): Promise<void> {
    try {
      const results = (await coming) ?? [];
      taken.forEach((entry, i) => {
        if (i < results.length)
          entry.resolve(results[i] as Result); // in range: checked above
        else entry.reject(new Error('a group gave fewer results than items'));
      });
    } catch (error) {
      for (const entry of taken) entry.reject(error);
    }
    this.#free(key);
  }

  #free(key: Key): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    queue.working = false;
    if (queue.waiting.length === 0) {
      this.#queues.delete(key);
    } else {
      this.#ready.add(key);
      this.#plan();
    }
  }

  /** The newest group has ended, or has been running for long. */
  #mayStartAnother(patience: NodeJS.Timeout): void {
    clearTimeout(patience);
    if (this.#patience === patience) this.#patience = undefined;
    this.#plan();
  }
}
