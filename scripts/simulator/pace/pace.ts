/** Tasks that are due within the same step run together, on one timer. */
const STEP_MS = 5;

/**
 * Runs tasks later. Needs one timer per step of 5 ms, however many tasks the step has. So thousands of receipts a second cost
 * little.
 */
export class Delays {
  readonly #due = new Map<number, { readonly timer: NodeJS.Timeout; readonly tasks: (() => void)[] }>();
  #size = 0;

  /** Number of tasks that have not run yet. */
  get size(): number {
    return this.#size;
  }

  /** Runs `task` after `delayMs`, or up to 5 ms later. If `delayMs` is 0 or less, runs it at once. */
  after(delayMs: number, task: () => void): void {
    if (delayMs <= 0) {
      task();
      return;
    }
    const now = performance.now();
    const step = Math.ceil((now + delayMs) / STEP_MS);
    this.#size += 1;
    const appointment = this.#due.get(step);
    if (appointment !== undefined) {
      appointment.tasks.push(task);
      return;
    }
    const timer = setTimeout(() => this.#run(step), step * STEP_MS - now);
    this.#due.set(step, { timer, tasks: [task] });
  }

  /** Forgets all tasks that have not run yet. */
  clear(): void {
    for (const { timer } of this.#due.values()) clearTimeout(timer);
    this.#due.clear();
    this.#size = 0;
  }

  #run(step: number): void {
    const tasks = this.#due.get(step)?.tasks ?? [];
    this.#due.delete(step);
    this.#size -= tasks.length;
    for (const task of tasks) task();
  }
}

/**
 * Counts submits per second, as carriers do. A second begins with the first submit after the last second ended. Also keeps the
 * largest count, so that a test can check whether a client kept to its rate.
 */
export class RateLimit {
  readonly #perSecond: number;
  #began = Number.NEGATIVE_INFINITY;
  #count = 0;
  peak = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Counts a submit. Returns whether it is within the limit. */
  admits(): boolean {
    const now = performance.now();
    if (now - this.#began >= 1_000) {
      this.#began = now;
      this.#count = 0;
    }
    this.#count += 1;
    this.peak = Math.max(this.peak, this.#count);
    return this.#count <= this.#perSecond;
  }
}

/**
 * Counts how often each recent key came, in bounded memory. Keeps two generations of up to `limit` keys. When the younger one is
 * full, the older one is dropped.
 */
export class RecentCounts {
  readonly #limit: number;
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts the key once more. Returns how often it came: 1 for the first time. */
  add(key: string): number {
    const count = (this.#young.get(key) ?? this.#old.get(key) ?? 0) + 1;
    if (this.#young.size >= this.#limit && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, count);
    return count;
  }

  has(key: string): boolean {
    return this.#young.has(key) || this.#old.has(key);
  }

  forget(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
