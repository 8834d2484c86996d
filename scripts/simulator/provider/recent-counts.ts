/**
 * Counts by key for the keys seen lately, in bounded memory: two generations of `limit` keys, of which the older one is
 * dropped whole when the younger is full.
 */
export class RecentCounts {
  readonly #limit: number;
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts once more and returns how often `key` was counted, 1 the first time. */
  add(key: string): number {
    const count = (this.#young.get(key) ?? this.#old.get(key) ?? 0) + 1;
    if (this.#young.size >= this.#limit && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, count);
    return count;
  }

  forget(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
