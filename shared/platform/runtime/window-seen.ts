const PERIOD_MS = 5_000;

/**
 * Learns the window of a sender that does not tell it: the most items that it had without a result at once, in the last 5 to 10
 * seconds in which any came.
 */
export class WindowSeen {
  #most = 0;
  #mostBefore = 0;
  #sinceMs = Number.NEGATIVE_INFINITY;

  /** 0 when nothing was noted yet. */
  get most(): number {
    return Math.max(this.#most, this.#mostBefore);
  }

  /** `count`: how many items are without a result, with the one that has just come. */
  note(count: number, nowMs: number): void {
    if (nowMs - this.#sinceMs >= PERIOD_MS) {
      this.#mostBefore = this.#most;
      this.#most = 0;
      this.#sinceMs = nowMs;
    }
    this.#most = Math.max(this.#most, count);
  }
}
