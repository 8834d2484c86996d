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
