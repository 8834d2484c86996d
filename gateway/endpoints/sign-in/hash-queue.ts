import type { Clock } from '../../../shared/platform/runtime/clock.ts';

/**
 * Whose hash it is. Hashes of the same key wait behind each other, and take turns with those of other keys. `known`: somebody who has
 * been here before, by the account; otherwise the key is the network.
 */
export interface Lane {
  readonly key: string;
  readonly known: boolean;
}

interface Waiting {
  readonly sinceMs: number;
  /** Begins the work. */
  readonly go: () => void;
  /** Called when the attempt waited too long, or others need its place. */
  readonly refuse: () => void;
}

/** A hash takes 19 MB and a core for 15 ms. More at once would slow down all other requests. */
const RUNNING_MAX = 2;
/** Of these, what is from networks that nobody knows: it never takes the place of somebody who was here before. */
const UNKNOWN_RUNNING_MAX = 1;
/** An office that signs in at the same moment. */
const LANE_MAX = 32;
/** As many wait four seconds at most on an idle machine. */
const WAITING_MAX = 256;
/** Whoever waited so long has pressed the button again. */
const WAIT_MAX_MS = 10_000;

/** Lets password hashes run one after the other, fair to all who wait for one (docs/decisions/0026). */
export class HashQueue {
  readonly #clock: Clock;
  readonly #known = new Turns();
  readonly #unknown = new Turns();
  #running = 0;
  #unknownRunning = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined when too many wait, or when it waited too long: then nothing was done. */
  async run<T>(lane: Lane, work: () => Promise<T>): Promise<T | undefined> {
    if (!(await this.#turn(lane))) return undefined;
    try {
      return await work();
    } finally {
      this.#running--;
      if (!lane.known) this.#unknownRunning--;
      this.#next();
    }
  }

  #turn({ key, known }: Lane): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting = { sinceMs: this.#clock.monotonicMs(), go: () => resolve(true), refuse: () => resolve(false) };
      if ((known ? this.#known : this.#unknown).add(key, waiting)) this.#next();
      else resolve(false);
    });
  }

  #next(): void {
    while (this.#running < RUNNING_MAX) {
      const isUnknown = this.#unknownRunning < UNKNOWN_RUNNING_MAX && this.#unknown.size > 0;
      const waiting = (isUnknown ? this.#unknown : this.#known).take();
      if (waiting === undefined) return;
      if (this.#clock.monotonicMs() - waiting.sinceMs > WAIT_MAX_MS) {
        waiting.refuse();
        continue;
      }
      this.#running++;
      if (isUnknown) this.#unknownRunning++;
      waiting.go();
    }
  }
}

/** Attempts that wait, by key; the keys take turns. */
class Turns {
  size = 0;
  /** The next key comes first. */
  readonly #byKey = new Map<string, Waiting[]>();

  /** False when there is no room. In a full queue the longest lane makes room for those who have fewer waiting. */
  add(key: string, waiting: Waiting): boolean {
    const own = this.#byKey.get(key) ?? [];
    if (own.length >= LANE_MAX) return false;
    if (this.size >= WAITING_MAX && !this.#shorten(own.length + 1)) return false;
    own.push(waiting);
    this.#byKey.set(key, own);
    this.size++;
    return true;
  }

  take(): Waiting | undefined {
    for (const [key, lane] of this.#byKey) {
      const waiting = lane.shift();
      this.#byKey.delete(key);
      if (lane.length > 0) this.#byKey.set(key, lane);
      this.size--;
      return waiting;
    }
    return undefined;
  }

  /** Refuses the newest of the longest lane, if that has more than `length`. */
  #shorten(length: number): boolean {
    const [longest] = [...this.#byKey.values()].sort((a, b) => b.length - a.length);
    if (longest === undefined || longest.length <= length) return false;
    longest.pop()?.refuse();
    this.size--;
    return true;
  }
}
