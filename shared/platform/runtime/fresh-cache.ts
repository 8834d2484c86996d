import type { Clock } from './clock.ts';
import { Grouper } from './grouper.ts';

/**
 * Caches for a short time what was read, and also what does not exist. Failed reads are not cached. Misses have their
 * own limit, so that a stream of made-up keys evicts nothing that is in use.
 */
type FreshCacheOptions<Key extends string, Value> = Limits<Value> & (ReadOne<Key, Value> | ReadMany<Key, Value>);

interface Limits<Value> {
  /** How long an answer is valid, counted from before the read. 0: no caching. */
  readonly freshMs: number;
  /** This answer is valid for whoever asked only: the next one reads again. */
  readonly isBrief?: (value: Value) => boolean;
  /** Most values, and most misses, that are kept; the oldest are evicted first. */
  readonly maxEntries: number;
  readonly clock: Clock;
}

/** Reads each key separately: a slow one delays no other. */
interface ReadOne<Key, Value> {
  read(key: Key): Promise<Value | undefined>;
}

/** Reads all keys at once. A key that is missing in the map does not exist. */
interface ReadMany<Key, Value> {
  readMany(keys: readonly Key[]): Promise<ReadonlyMap<Key, Value>>;
}

/** Parts of `freshMs`: when a requested key is read again, and how long that read may wait for others. */
const RENEW_AFTER = 0.5;
const RENEW_WAIT = 0.15;
const READ_MAX = 1_000;
/** Least time between two such reads, so made-up keys cause 200 a second at most. After it no key waits. */
const READ_GAP_MS = 5;

interface Entry<Value> {
  readonly value: Value | undefined;
  readonly renewMs: number;
  readonly untilMs: number;
}

export class FreshCache<Key extends string, Value> {
  readonly #options: FreshCacheOptions<Key, Value>;
  readonly #found = new Map<Key, Entry<Value>>();
  readonly #missing = new Map<Key, Entry<Value>>();
  readonly #reading = new Map<Key, Promise<Value | undefined>>();
  /** Keys requested late in their time. The next background read includes them. */
  #renewing = new Set<Key>();
  readonly #readOne: (key: Key) => Promise<Value | undefined>;

  constructor(options: FreshCacheOptions<Key, Value>) {
    this.#options = options;
    this.#readOne = 'read' in options ? (key) => options.read(key) : readTogether(options);
  }

  /**
   * Simultaneous requests for the same key share the read. With `readMany`, different keys share it too, and a key
   * requested in the second half of its time is read again in the background, so keys in use never wait for a read.
   */
  async get(key: Key): Promise<Value | undefined> {
    const nowMs = this.#options.clock.monotonicMs();
    const entry = this.#entry(key);
    if (entry !== undefined && nowMs < entry.untilMs) {
      if (nowMs >= entry.renewMs) this.#renewSoon(key);
      return entry.value;
    }
    const reading = this.#reading.get(key);
    if (reading !== undefined) return reading;
    const started = this.#readOne(key);
    this.#reading.set(key, started);
    try {
      const value = await started;
      this.#keep(key, value, nowMs);
      return value;
    } finally {
      this.#reading.delete(key);
    }
  }

  /** One read for all keys that are not fresh. */
  async getMany(keys: Iterable<Key>): Promise<ReadonlyMap<Key, Value>> {
    const nowMs = this.#options.clock.monotonicMs();
    const values = new Map<Key, Value>();
    const stale: Key[] = [];
    for (const key of new Set(keys)) {
      const entry = this.#entry(key);
      if (entry === undefined || nowMs >= entry.untilMs) stale.push(key);
      else if (entry.value !== undefined) values.set(key, entry.value);
    }
    if (stale.length === 0) return values;
    const answers = await this.#readAll(stale);
    for (const key of stale) {
      const value = answers.get(key);
      if (value !== undefined) values.set(key, value);
      this.#keep(key, value, nowMs);
    }
    return values;
  }

  /** The last answer that is still kept, however old. Reads nothing. */
  last(key: Key): Value | undefined {
    return this.#entry(key)?.value;
  }

  forget(key: Key): void {
    this.#found.delete(key);
    this.#missing.delete(key);
  }

  #entry(key: Key): Entry<Value> | undefined {
    return this.#found.get(key) ?? this.#missing.get(key);
  }

  async #readAll(keys: readonly Key[]): Promise<ReadonlyMap<Key, Value>> {
    const options = this.#options;
    if ('readMany' in options) return options.readMany(keys);
    const values = await Promise.all(keys.map(async (key) => [key, await options.read(key)] as const));
    return new Map(values.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
  }

  #renewSoon(key: Key): void {
    const options = this.#options;
    if ('read' in options || this.#renewing.has(key) || this.#renewing.size >= READ_MAX) return;
    this.#renewing.add(key);
    if (this.#renewing.size > 1) return;
    setTimeout(() => void this.#renew(options), options.freshMs * RENEW_WAIT).unref();
  }

  async #renew({ readMany }: ReadMany<Key, Value>): Promise<void> {
    const keys = [...this.#renewing];
    this.#renewing = new Set();
    const askedMs = this.#options.clock.monotonicMs();
    try {
      const values = await readMany(keys);
      for (const key of keys) this.#keep(key, values.get(key), askedMs);
    } catch {
      // The old answer is valid until its time is over; after that, callers get the error.
    }
  }

  /** Drops an answer when a newer one is already kept. */
  #keep(key: Key, value: Value | undefined, askedMs: number): void {
    const { isBrief, maxEntries } = this.#options;
    const freshMs = value !== undefined && isBrief?.(value) ? 0 : this.#options.freshMs;
    const untilMs = askedMs + freshMs;
    if ((this.#entry(key)?.untilMs ?? untilMs) > untilMs) return;
    this.forget(key);
    const entries = value === undefined ? this.#missing : this.#found;
    entries.set(key, { value, renewMs: askedMs + freshMs * RENEW_AFTER, untilMs });
    if (entries.size <= maxEntries) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  }
}

/** One read at a time; keys requested meanwhile go into the next. */
function readTogether<Key, Value>({ readMany }: ReadMany<Key, Value>): (key: Key) => Promise<Value | undefined> {
  const reads = new Grouper<Key, Value | undefined>({
    maxItems: READ_MAX,
    gatherMs: 0,
    gapMs: READ_GAP_MS,
    run: async (keys) => {
      const values = await readMany(keys);
      return keys.map((key) => values.get(key));
    },
  });
  return (key) => reads.add(key);
}
