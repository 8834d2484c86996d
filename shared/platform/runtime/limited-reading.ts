import type { Socket } from 'node:net';

class AnswerTooLongError extends Error {
  readonly code = 'ANSWER_TOO_LONG';
}

/**
 * Counts all bytes of an answer, between a client's connection and its HTTP parser: also heads, informational answers
 * and chunk sizes, which HTTP clients count only in part. An answer begins with the first byte after a write, so
 * requests must follow one another.
 */
export class LimitedReading {
  /** For one answer, head included; beyond it the connection is closed. May change for each request. */
  bytesMax: number;
  readonly #socket: Socket;
  readonly #handOn: Socket['push'];
  #bytes = 0;
  #written = 0;
  #tooLong = false;

  /** Create it before `socket` has read anything. */
  constructor(socket: Socket, bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#socket = socket;
    this.#handOn = socket.push.bind(socket);
    // Everything that the stream reads passes here, encrypted or not. Returning false pauses reading until more is
    // asked for.
    socket.push = (chunk: Buffer | null) => this.#take(chunk);
  }

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
    // First pass on what is within the limit, because a status line in it counts. undici parses it in the next tick.
    if (room > 0) this.#handOn(chunk.subarray(0, room));
    setImmediate(() => {
      this.#socket.destroy(new AnswerTooLongError(`the answer has more than ${this.bytesMax} bytes`));
    });
    return false;
  }
}
