/** Tasks that are due within the same step run together, on one timer. */
const STEP_MS = 5;

/** Runs tasks later with one timer for each step, so that thousands of receipts a second cost little. */
export class Delays {
  readonly #due = new Map<number, { readonly timer: NodeJS.Timeout; readonly tasks: (() => void)[] }>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Runs `task` after `delayMs`, up to one step later; at once if that is 0 or less. */
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
 * Counts submits per second, as carriers do: a second begins with the first submit after the last one ended. Keeps the
 * largest count, so that a test can check a client's rate.
 */
export class RateLimit {
  readonly #perSecond: number;
  #began = Number.NEGATIVE_INFINITY;
  #count = 0;
  peak = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

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
 * Counts recent keys in bounded memory: two generations of up to `limit` keys, of which the older is dropped when the
 * younger is full.
 */
export class RecentCounts {
  readonly #limit: number;
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns how often the key came: 1 for the first time. */
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
