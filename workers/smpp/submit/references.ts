/** For how many destinations a counter is remembered. */
const MAX_REFERENCES = 50_000;

/**
 * Gives the references of messages with several segments. Each destination has its own counter. So a handset gets the same
 * reference again only after `count` messages. One per carrier.
 */
export class References {
  readonly #next = new Map<string, number>();
  readonly #count: number;
  /** The first reference of a new destination. It changes each time. */
  #start: number;

  /** `count` is 256 for references of 8 bits and 65,536 for references of 16 bits. */
  constructor(start: number, count: number) {
    this.#start = start;
    this.#count = count;
  }

  next(destination: string): number {
    const reference = this.#next.get(destination) ?? this.#start++ % this.#count;
    this.#next.delete(destination); // Moves to the end: the counter that was used longest ago is forgotten first.
    this.#next.set(destination, (reference + 1) % this.#count);
    if (this.#next.size > MAX_REFERENCES) {
      const [oldest] = this.#next.keys();
      if (oldest !== undefined) this.#next.delete(oldest);
    }
    return reference;
  }
}
