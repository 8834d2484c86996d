import type { Clock } from './clock.ts';
import { Grouper } from './grouper.ts';

/**
 * Remembers for a short while what was read from somewhere, also that something is not there. A read that fails is not
 * remembered. Misses have room of their own, so that a stream of made-up keys pushes out nothing that is in use.
 */
export type FreshCacheOptions<Key extends string, Value> = Limits & (ReadOne<Key, Value> | ReadMany<Key, Value>);

interface Limits {
  /** How long an answer is believed, counted from before it was asked for. 0: no caching. */
  readonly freshMs: number;
  /** The most values, and the most misses, that are kept; the oldest go first. */
  readonly maxEntries: number;
  readonly clock: Clock;
}

/** Each key by itself: a slow one holds up no other. */
interface ReadOne<Key, Value> {
  read(key: Key): Promise<Value | undefined>;
}

/** Answers for all keys in one go; what is not in the map is not there. */
interface ReadMany<Key, Value> {
  readMany(keys: readonly Key[]): Promise<ReadonlyMap<Key, Value>>;
}

/** The part of `freshMs` after which a key that is asked for is read again, and the part for which that waits for others. */
const RENEW_AFTER = 0.5;
const RENEW_WAIT = 0.15;
/** Keys of one read that `get` has begun. */
const READ_MAX = 1_000;
/**
 * The least time between two such reads: a stream of made-up keys costs at most 200 reads a second and process. A key that
 * comes when there was no read for that long does not wait.
 */
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
  /** Asked for late in their time; the next read in the background is for them. */
  #renewing = new Set<Key>();
  readonly #readOne: (key: Key) => Promise<Value | undefined>;

  constructor(options: FreshCacheOptions<Key, Value>) {
    this.#options = options;
    this.#readOne = 'read' in options ? (key) => options.read(key) : readTogether(options);
  }

  /**
   * One value. Whoever asks for the same key at the same time shares the read. With `readMany`, different keys share it too,
   * and a key that is asked for in the second half of its time is read again in the background: what is in use waits for no read.
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

  /** Those of `keys` that are there, with one read for all that are not fresh. */
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

  /** The last answer, however old, while it is kept. Reads nothing. */
  last(key: Key): Value | undefined {
    return this.#entry(key)?.value;
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
      // The old answer counts until its time is over; then whoever asks gets the error.
    }
  }

  /** An answer that a newer one has overtaken is not kept. */
  #keep(key: Key, value: Value | undefined, askedMs: number): void {
    const { freshMs, maxEntries } = this.#options;
    const untilMs = askedMs + freshMs;
    if ((this.#entry(key)?.untilMs ?? untilMs) > untilMs) return;
    this.#found.delete(key);
    this.#missing.delete(key);
    const entries = value === undefined ? this.#missing : this.#found;
    entries.set(key, { value, renewMs: askedMs + freshMs * RENEW_AFTER, untilMs });
    if (entries.size <= maxEntries) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  }
}

/** One read at a time; what is asked for meanwhile goes into the next. */
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
