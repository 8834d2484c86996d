import type { Clock } from '../../shared/runtime/clock.ts';
import { Grouper } from '../../shared/runtime/grouper.ts';

/**
 * Remembers for a short while what was read from the store, also that something is not there. Reads of the same key at the
 * same time are one read. Misses have room of their own, so that a stream of made-up keys pushes out nothing that is in use.
 * What is asked for in the second half of its time is read again in the background, together with all others that are, so
 * that what is in use costs few reads and waits for none.
 */
export type ReadCacheOptions<Key, Value> = Common<Key> & (Single<Key, Value> | Many<Key, Value>);

interface Common<Key> {
  /** Counted from before the read: what the store says later than that is seen at the latest then. 0: no caching. */
  readonly ttlMs: number;
  /** The most values, and the most misses, that are kept; the oldest go first. */
  readonly maxEntries: number;
  readonly clock: Clock;
  /** Equal for keys that ask for the same thing. */
  nameOf(key: Key): string;
}

/** Each by itself, when its time is over. */
interface Single<Key, Value> {
  read(key: Key): Promise<Value | undefined>;
}

/**
 * Several at once, by their names; what is not there is left out. Of these reads one is under way at a time, and what is
 * asked for meanwhile goes into the next.
 */
interface Many<Key, Value> {
  readMany(keys: readonly Key[]): Promise<ReadonlyMap<string, Value>>;
}

/** Of the time, how much passes until what is asked for is read again, and how long that waits for others. */
const RENEW_AFTER = 0.5;
const RENEW_WAIT = 0.15;
/** Keys of one read. */
const READ_MAX = 1_000;
/**
 * The least time between two reads that somebody waits for: a stream of made-up keys costs at most 200 reads a second and
 * process, however it comes. What is asked for when there was none for so long does not wait.
 */
const READ_GAP_MS = 5;

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
  readonly #readOne: (key: Key) => Promise<Value | undefined>;

  constructor(options: ReadCacheOptions<Key, Value>) {
    this.#options = options;
    this.#readOne = 'read' in options ? (key) => options.read(key) : readTogether(options);
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
    const value = await this.#readOne(key);
    this.#keep(name, value, readMs);
    return value;
  }

  #renewSoon(key: Key, name: string): void {
    const options = this.#options;
    if ('read' in options || this.#renewing.size >= READ_MAX) return;
    this.#renewing.set(name, key);
    if (this.#renewing.size > 1) return;
    setTimeout(() => void this.#renew(options), options.ttlMs * RENEW_WAIT).unref();
  }

  async #renew({ readMany }: Many<Key, Value>): Promise<void> {
    const keys = this.#renewing;
    this.#renewing = new Map();
    const readMs = this.#options.clock.monotonicMs();
    try {
      const values = await readMany([...keys.values()]);
      for (const name of keys.keys()) this.#keep(name, values.get(name), readMs);
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

function readTogether<Key, Value>({ nameOf, readMany }: Common<Key> & Many<Key, Value>) {
  const reads = new Grouper<Key, Value | undefined>({
    maxItems: READ_MAX,
    gatherMs: 0,
    gapMs: READ_GAP_MS,
    run: async (keys) => {
      const values = await readMany(keys);
      return keys.map((key) => values.get(nameOf(key)));
    },
  });
  return (key: Key): Promise<Value | undefined> => reads.add(key);
}
