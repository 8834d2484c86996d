import type { Clock } from '../../../shared/runtime/clock.ts';

export interface FreshLookupOptions<Key, Value> {
  readonly clock: Clock;
  /** How long an answer is believed, counted from before it was asked for. */
  readonly freshMs: number;
  /** Answers that are kept, also that something is not there; the oldest go first. */
  readonly maxEntries: number;
  /** Answers for all keys in one go; what is not in the map is not there. */
  read(keys: readonly Key[]): Promise<ReadonlyMap<Key, Value>>;
}

interface Entry<Value> {
  readonly value: Value | undefined;
  readonly untilMs: number;
}

/** Looks up many keys at a time and remembers for a while what it was told: asks only for those that it does not know. */
export class FreshLookup<Key extends string, Value> {
  readonly #options: FreshLookupOptions<Key, Value>;
  readonly #known = new Map<Key, Entry<Value>>();

  constructor(options: FreshLookupOptions<Key, Value>) {
    this.#options = options;
  }

  /** Those of `keys` that are there. Rejects with the reader's error, which is not remembered. */
  async get(keys: Iterable<Key>): Promise<ReadonlyMap<Key, Value>> {
    const { clock, freshMs, maxEntries, read } = this.#options;
    const nowMs = clock.monotonicMs();
    const found = new Map<Key, Value>();
    const unknown: Key[] = [];
    for (const key of new Set(keys)) {
      const entry = this.#known.get(key);
      if (entry === undefined || entry.untilMs <= nowMs) unknown.push(key);
      else if (entry.value !== undefined) found.set(key, entry.value);
    }
    if (unknown.length === 0) return found;
    const answers = await read(unknown);
    for (const key of unknown) {
      const value = answers.get(key);
      if (value !== undefined) found.set(key, value);
      this.#known.delete(key); // Behind the others: the oldest answer is forgotten first.
      this.#known.set(key, { value, untilMs: nowMs + freshMs });
    }
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxEntries) break;
      this.#known.delete(oldest);
    }
    return found;
  }
}
