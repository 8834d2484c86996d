import type { Socket } from 'node:net';

/** What the connection of an answer that is longer than it may be is destroyed with. */
export class AnswerTooLongError extends Error {
  readonly code = 'ANSWER_TOO_LONG';
}

/**
 * Stands between a client's connection and the HTTP client that parses what it brings, and counts all bytes of an answer: heads,
 * informational answers and chunk sizes too, of which HTTP clients count only some. An answer begins with the first byte after
 * something was written, so requests must follow one another.
 */
export class LimitedReading {
  /** For one answer, head and all. What comes beyond it is dropped, and the connection with it. May be changed for each request. */
  bytesMax: number;
  readonly #socket: Socket;
  readonly #handOn: Socket['push'];
  #bytes = 0;
  #written = 0;
  #tooLong = false;

  /** To be made before `socket` has read anything. */
  constructor(socket: Socket, bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#socket = socket;
    this.#handOn = socket.push.bind(socket);
    // What a stream has read comes through here, encrypted or not. Returning false stops the reading until it is asked for more.
    socket.push = (chunk: Buffer | null) => this.#take(chunk);
  }

  /** Whether more came than may. */
  get tooLong(): boolean {
    return this.#tooLong;
  }

  #take(chunk: Buffer | null): boolean {
    if (this.#tooLong) return false;
    if (chunk === null) return this.#handOn(null);
    const { bytesWritten } = this.#socket;
    if (bytesWritten !== this.#written) {
      this.#written = bytesWritten;
      this.#bytes = 0;
    }
    const room = Math.max(0, this.bytesMax - this.#bytes);
    this.#bytes += chunk.length;
    if (chunk.length <= room) return this.#handOn(chunk);
    this.#tooLong = true;
    // What is within the limit first: a status line among it counts. undici parses it in the next tick.
    if (room > 0) this.#handOn(chunk.subarray(0, room));
    setImmediate(() => {
      this.#socket.destroy(new AnswerTooLongError(`the answer has more than ${this.bytesMax} bytes`));
    });
    return false;
  }
}
