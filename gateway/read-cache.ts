import type { Clock } from '../shared/runtime/clock.ts';

/**
 * Remembers for a short while what was read from the store, also that something is not there. Reads of the same key at the
 * same time are one read. Misses have room of their own, so that a stream of made-up keys pushes out nothing that is in use.
 * What is asked for in the second half of its time is read again in the background, together with all others that are, so
 * that what is in use costs few reads and waits for none.
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
  /** Several at once, by their names; what is not there is left out. Without it each is read when its time is over. */
  readMany?(keys: readonly Key[]): Promise<ReadonlyMap<string, Value>>;
}

/** Of the time, how much passes until what is asked for is read again, and how long that waits for others. */
const RENEW_AFTER = 0.5;
const RENEW_WAIT = 0.15;
/** Keys of one read in the background. */
const RENEWED_MAX = 1_000;

interface Entry<Value> {
  readonly value: Value | undefined;
  readonly renewMs: number;
  readonly untilMs: number;
}

export class ReadCache<Key, Value> {
  readonly #options: ReadCacheOptions<Key, Value>;
  readonly #found = new Map<string, Entry<Value>>();
  readonly #missing = new Map<string, Entry<Value>>();
  readonly #reading = new Map<string, Promise<Value | undefined>>();
  /** In use, to be read again by the next read in the background. */
  #renewing = new Map<string, Key>();

  constructor(options: ReadCacheOptions<Key, Value>) {
    this.#options = options;
  }

  /** Rejects with the store's error, which is not remembered. */
  async get(key: Key): Promise<Value | undefined> {
    const name = this.#options.nameOf(key);
    const entry = this.#found.get(name) ?? this.#missing.get(name);
    const nowMs = this.#options.clock.monotonicMs();
    if (entry !== undefined && nowMs < entry.untilMs) {
      if (nowMs >= entry.renewMs) this.#renewSoon(key, name);
      return entry.value;
    }
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
    const readMs = this.#options.clock.monotonicMs();
    const value = await this.#options.read(key);
    this.#keep(name, value, readMs);
    return value;
  }

  #renewSoon(key: Key, name: string): void {
    if (this.#options.readMany === undefined || this.#renewing.size >= RENEWED_MAX) return;
    this.#renewing.set(name, key);
    if (this.#renewing.size > 1) return;
    setTimeout(() => void this.#renew(), this.#options.ttlMs * RENEW_WAIT).unref();
  }

  async #renew(): Promise<void> {
    const keys = this.#renewing;
    this.#renewing = new Map();
    const readMs = this.#options.clock.monotonicMs();
    try {
      const values = await this.#options.readMany?.([...keys.values()]);
      if (values !== undefined) for (const name of keys.keys()) this.#keep(name, values.get(name), readMs);
    } catch {
      // What was known counts until its time is over; then whoever asks is told what is wrong.
    }
  }

  /** `readMs`: when it was asked for; it counts from then. An answer that was overtaken by a newer one is not kept. */
  #keep(name: string, value: Value | undefined, readMs: number): void {
    const { ttlMs, maxEntries } = this.#options;
    const untilMs = readMs + ttlMs;
    const known = this.#found.get(name) ?? this.#missing.get(name);
    if (known !== undefined && known.untilMs > untilMs) return;
    this.#found.delete(name);
    this.#missing.delete(name);
    const entries = value === undefined ? this.#missing : this.#found;
    entries.set(name, { value, renewMs: readMs + ttlMs * RENEW_AFTER, untilMs });
    if (entries.size <= maxEntries) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  }
}
