import type { Socket } from 'node:net';
import type { ReadTurns } from './read-turns.ts';

/** What the connection of an answer that is longer than it may be is destroyed with. */
export class AnswerTooLongError extends Error {
  readonly code = 'ANSWER_TOO_LONG';
}

/** Handed on at once. A client's parser takes up to 2 µs for a header or a chunk, which may have 4 bytes. */
const SLICE_BYTES = 4_096;

/**
 * Stands between a client's connection and the HTTP client that parses what it brings: all bytes of an answer are counted
 * (heads, informational answers and chunk sizes too, of which HTTP clients count only some), and they are handed on in slices,
 * as `turns` allow. One read brings 64 KB: 16,000 headers, or 4,000 informational answers. An answer begins with the first byte
 * after something was written, so requests must follow one another.
 */
export class LimitedReading {
  /** For one answer, head and all. What comes beyond it is dropped, and the connection with it. May be changed for each request. */
  bytesMax: number;
  readonly #socket: Socket;
  readonly #turns: ReadTurns;
  readonly #handOn: Socket['push'];
  /** `null` is the end. */
  #held: (Buffer | null)[] = [];
  #bytes = 0;
  #written = 0;
  #tooLong = false;

  /** To be made before `socket` has read anything. */
  constructor(socket: Socket, turns: ReadTurns, bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#socket = socket;
    this.#turns = turns;
    this.#handOn = socket.push.bind(socket);
    // What a stream has read comes through here, encrypted or not. Returning false stops the reading until it is asked for more.
    socket.push = (chunk: Buffer | null) => this.#take(chunk);
  }

  /** Whether more came than may. */
  get tooLong(): boolean {
    return this.#tooLong;
  }

  get holds(): boolean {
    return this.#held.length > 0;
  }

  /** Hands one slice on, in a turn that has room for it; returns its bytes. */
  next(): number {
    const chunk = this.#held.shift();
    if (chunk === undefined || this.#socket.destroyed) {
      this.#held = [];
      return 0;
    }
    if (chunk === null) {
      this.#handOn(null);
      this.#socket.read(0); // With nothing left to read, somebody has to ask before the end is noticed.
      return 0;
    }
    const slice = chunk.subarray(0, SLICE_BYTES);
    if (slice.length < chunk.length) this.#held.unshift(chunk.subarray(SLICE_BYTES));
    this.#handOn(slice);
    this.#cutOff();
    return slice.length;
  }

  #take(chunk: Buffer | null): boolean {
    if (this.#tooLong) return false;
    const within = chunk === null ? null : this.#withinLimit(chunk);
    const small = within === null || within.length <= SLICE_BYTES;
    if (!this.holds && small && this.#turns.mayNow(within?.length ?? 0)) {
      const more = this.#handOn(within);
      this.#cutOff();
      return more;
    }
    if (!this.holds) this.#turns.later(this);
    this.#held.push(within);
    return false;
  }

  #withinLimit(chunk: Buffer): Buffer {
    const written = this.#socket.bytesWritten;
    if (written !== this.#written) {
      this.#written = written;
      this.#bytes = 0;
    }
    const room = Math.max(0, this.bytesMax - this.#bytes);
    this.#bytes += chunk.length;
    this.#tooLong = chunk.length > room;
    return this.#tooLong ? chunk.subarray(0, room) : chunk;
  }

  /** Once all that was within the limit is handed on: a status line among it counts. */
  #cutOff(): void {
    if (!this.#tooLong || this.holds) return;
    // In undici what was just handed on is parsed in the next tick.
    setImmediate(() => {
      this.#socket.destroy(new AnswerTooLongError(`the answer has more than ${this.bytesMax} bytes`));
    });
  }
}
