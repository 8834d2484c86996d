/** Counters that are remembered at most. */
const MAX_REFERENCES = 50_000;

/**
 * References for joined segments: a counter per destination, so that two messages to one handset get the same one only `count`
 * messages apart. One per carrier.
 */
export class References {
  readonly #next = new Map<string, number>();
  readonly #count: number;
  /** Where a destination that is not remembered begins: not always the same. */
  #start: number;

  /** `count`: 256 for a reference of 8 bit, 65,536 for one of 16. */
  constructor(start: number, count: number) {
    this.#start = start;
    this.#count = count;
  }

  next(destination: string): number {
    const reference = this.#next.get(destination) ?? this.#start++ % this.#count;
    this.#next.delete(destination); // Behind the others: the one used longest ago is forgotten first.
    this.#next.set(destination, (reference + 1) % this.#count);
    if (this.#next.size > MAX_REFERENCES) {
      const [oldest] = this.#next.keys();
      if (oldest !== undefined) this.#next.delete(oldest);
    }
    return reference;
  }
}
