/** A connection that waits for its turn to hand on what it has read. */
export interface Waiting {
  readonly holds: boolean;
  /** Hands one slice on; returns its bytes. */
  next(): number;
}

/** Handed on in one turn of the event loop, by all connections together: at most some 10 ms of parsing. */
const TURN_BYTES = 16_384;
/** What a slice counts at least: the few bytes that end an answer make somebody read all of it. */
const SLICE_COST_MIN = 1_024;

/**
 * Who hands on in a turn of the event loop what its connection has read: all together `TURN_BYTES`, the rest in the next turns,
 * one slice each in a round. A turn brings whatever hundreds of connections sent meanwhile.
 */
export class ReadTurns {
  #left = TURN_BYTES;
  #counting = false;
  readonly #waiting: Waiting[] = [];

  /** Whether so many bytes may be handed on now; true counts them. */
  mayNow(bytes: number): boolean {
    if (this.#waiting.length > 0 || this.#left <= 0) return false;
    this.#count(bytes);
    return true;
  }

  /** To be asked once a connection until it holds nothing any more. */
  later(connection: Waiting): void {
    this.#count(0);
    this.#waiting.push(connection);
  }

  #count(bytes: number): void {
    this.#left -= Math.max(bytes, SLICE_COST_MIN);
    if (this.#counting) return;
    this.#counting = true;
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#counting = false;
    this.#left = TURN_BYTES;
    while (this.#left > 0) {
      const connection = this.#waiting.shift();
      if (connection === undefined) return;
      this.#count(connection.next());
      if (connection.holds) this.#waiting.push(connection);
    }
  }
}
