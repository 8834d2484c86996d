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
