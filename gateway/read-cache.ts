import type { Clock } from '../shared/runtime/clock.ts';

/**
 * Remembers for a short while what was read from the store, also that something is not there. Reads of the same key at the
 * same time are one read. Misses have room of their own, so that a stream of made-up keys pushes out nothing that is in use.
 */
export interface ReadCacheOptions<Key, Value> {
  /** Counted from before the read: what the store says later than that is seen at the latest then. 0: no caching. */
  readonly ttlMs: number;
  /** The most values, and the most misses, that are kept; the oldest go first. */
  readonly maxEntries: number;
  readonly clock: Clock;
  /** Equal for keys that ask for the same thing. */
  nameOf(key: Key): string;
  read(key: Key): Promise<Value | undefined>;
}

interface Entry<Value> {
  readonly value: Value | undefined;
  readonly untilMs: number;
}

export class ReadCache<Key, Value> {
  readonly #options: ReadCacheOptions<Key, Value>;
  readonly #found = new Map<string, Entry<Value>>();
  readonly #missing = new Map<string, Entry<Value>>();
  readonly #reading = new Map<string, Promise<Value | undefined>>();

  constructor(options: ReadCacheOptions<Key, Value>) {
    this.#options = options;
  }

  /** Rejects with the store's error, which is not remembered. */
  async get(key: Key): Promise<Value | undefined> {
    const name = this.#options.nameOf(key);
    const entry = this.#found.get(name) ?? this.#missing.get(name);
    if (entry !== undefined && this.#options.clock.monotonicMs() < entry.untilMs) return entry.value;
    const reading = this.#reading.get(name);
    if (reading !== undefined) return reading;
    const started = this.#read(key, name);
    this.#reading.set(name, started);
    try {
      return await started;
    } finally {
      this.#reading.delete(name);
    }
  }

  async #read(key: Key, name: string): Promise<Value | undefined> {
    const { clock, ttlMs, maxEntries } = this.#options;
    const untilMs = clock.monotonicMs() + ttlMs;
    const value = await this.#options.read(key);
    this.#found.delete(name);
    this.#missing.delete(name);
    const entries = value === undefined ? this.#missing : this.#found;
    entries.set(name, { value, untilMs });
    if (entries.size > maxEntries) {
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    }
    return value;
  }
}
