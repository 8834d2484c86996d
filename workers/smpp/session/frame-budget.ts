/**
 * The most frames that one connection hands on in one turn of the event loop; as receipts they take about 10 ms. A packet of 64
 * KiB holds 2,000 receipts, and these took 68 ms in one turn. With many connections each gets fewer frames: eight connections
 * with this limit took 83 ms in one turn.
 */
const FRAMES = 256;
const FRAMES_ALL = 512;
const FRAMES_LEAST = 16;
/**
 * The most octets in one turn, over all connections. The frame that reaches this limit is the last one. A frame of 64 KiB can
 * have 16,000 parameters and take 7 ms: eight binds with one such frame each took 60 ms in one turn.
 */
const OCTETS_ALL = 49_152;

/** Limits what the connections of this process hand on in one turn of the event loop, so that other work gets its turn too. */
export class FrameBudget {
  #connections = 0;
  #octets = 0;

  opened(): void {
    this.#connections += 1;
  }

  closed(): void {
    this.#connections -= 1;
  }

  /** The most frames that one connection may hand on in one turn. */
  get frames(): number {
    return Math.max(FRAMES_LEAST, Math.min(FRAMES, Math.floor(FRAMES_ALL / this.#connections)));
  }

  /** Whether the octets of this turn are used up. */
  get spent(): boolean {
    return this.#octets >= OCTETS_ALL;
  }

  spend(octets: number): void {
    if (this.#octets === 0) {
      setImmediate(() => {
        this.#octets = 0;
      });
    }
    this.#octets += octets;
  }
}
