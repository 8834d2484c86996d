/**
 * Frames that one connection may hand on in one turn of the event loop: 10 ms of receipts. A packet of 64 KiB holds 2,000 of them,
 * which held the event loop for 68 ms. With many connections each may hand on fewer: eight of them took 83 ms in one turn.
 */
const FRAMES = 256;
const FRAMES_ALL = 512;
const FRAMES_LEAST = 16;
/**
 * Octets of one turn, over all connections; the frame that reaches it is the last. One frame of 64 KiB can be 16,000 parameters,
 * 7 ms: eight binds with one each in the same turn held the event loop for 60 ms.
 */
const OCTETS_ALL = 49_152;

/** What all connections of this process may hand on in one turn of the event loop, so that everything else has its turn too. */
export class FrameBudget {
  #connections = 0;
  #octets = 0;

  opened(): void {
    this.#connections += 1;
  }

  closed(): void {
    this.#connections -= 1;
  }

  /** Frames of one connection in one turn. */
  get frames(): number {
    return Math.max(FRAMES_LEAST, Math.min(FRAMES, Math.floor(FRAMES_ALL / this.#connections)));
  }

  /** Whether nothing more may be handed on in this turn. */
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
