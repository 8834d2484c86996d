const SLOT_MS = 100;
const SLOTS = 10;

/** Counts how often something happened in the last second, in steps of a tenth of a second. */
export class RecentCount {
  readonly #slots = new Array<number>(SLOTS).fill(0);
  #current = 0;
  /** When it began to happen, after a second or more without. */
  #sinceMs = -Infinity;

  add(nowMs: number): void {
    if (this.at(nowMs) === 0) this.#sinceMs = nowMs;
    const slot = this.#current % SLOTS;
    this.#slots[slot] = (this.#slots[slot] ?? 0) + 1;
  }

  at(nowMs: number): number {
    this.#turn(nowMs);
    return this.#slots.reduce((sum, count) => sum + count, 0);
  }

  /** Whether it has happened only for a part of a second so far. */
  isPart(nowMs: number): boolean {
    return nowMs - this.#sinceMs < SLOTS * SLOT_MS;
  }

  #turn(nowMs: number): void {
    const now = Math.floor(nowMs / SLOT_MS);
    for (let slot = Math.max(this.#current + 1, now - SLOTS + 1); slot <= now; slot++) this.#slots[slot % SLOTS] = 0;
    this.#current = Math.max(now, this.#current);
  }
}
