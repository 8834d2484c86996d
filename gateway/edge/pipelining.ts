import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Turns } from './turns.ts';

/**
 * Of a connection. Who sends more without waiting for an answer is cut off: a packet of 64 KB holds 3,600, and making their
 * objects held the event loop for 90 to 300 ms; up to here, making and dropping them, for 14 (36 at the first time).
 */
const PIPELINED_MAX = 500;
/**
 * Of all connections, in one turn of the event loop. Beyond it few may wait on each: a packet on each of many connections comes in
 * one turn. In the next turn nobody is the worse for it.
 */
const TURN_MAX = 1_000;
const PIPELINED_CROWDED = 2;
/** Of all connections, some 4 KB each. Beyond it those with the most waiting are cut off, until there is room again. */
const WAITING_MAX = 5_000;
const WAITING_ROOM = 500;

/** Hands requests on: those of one connection one after the other, each after the answer before it, and all by turns. */
export class Pipelining {
  readonly #app: RequestListener;
  readonly #turns: Turns;
  /** The newest answer of each connection. */
  readonly #answers = new Map<Duplex, ServerResponse>();
  /** Requests of a connection that wait for their turn. */
  readonly #waiting = new Map<Socket, number>();
  #allWaiting = 0;
  /** Those that came to wait in this turn of the event loop. */
  #turnWaiting = 0;

  constructor(app: RequestListener, turns: Turns) {
    this.#app = app;
    this.#turns = turns;
  }

  /** The answer that `connection` waits for, the newest one if several. */
  pending(connection: Duplex): ServerResponse | undefined {
    const answer = this.#answers.get(connection);
    return answer?.writableFinished === false ? answer : undefined;
  }

  take(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    const before = this.pending(socket);
    this.#answers.set(socket, res);
    if (before === undefined && this.#turns.mayNow(socket)) {
      this.#app(req, res);
      return;
    }
    // Read no further until the last one's turn; but Node goes on when a request was whole, so what comes all the same is counted.
    socket.pause();
    if (!this.#mayWait(socket)) {
      this.#cutOff(socket);
      return;
    }
    if (this.#allWaiting > WAITING_MAX) this.#makeRoom();
    const serveLater = (): void => {
      this.#turns.later(socket, () => {
        if (socket.destroyed) return;
        this.#waitsNoMore(socket, 1);
        if (this.#answers.get(socket) === res) socket.resume();
        this.#app(req, res);
      });
    };
    if (before === undefined) serveLater();
    else before.once('close', serveLater);
  }

  gone(connection: Socket): void {
    this.#answers.delete(connection);
    this.#waitsNoMore(connection, this.#waiting.get(connection) ?? 0);
  }

  #mayWait(connection: Socket): boolean {
    const waiting = (this.#waiting.get(connection) ?? 0) + 1;
    this.#waiting.set(connection, waiting);
    this.#allWaiting += 1;
    if (this.#turnWaiting === 0) {
      setImmediate(() => {
        this.#turnWaiting = 0;
      });
    }
    this.#turnWaiting += 1;
    return waiting <= (this.#turnWaiting > TURN_MAX ? PIPELINED_CROWDED : PIPELINED_MAX);
  }

  /** Much at once: who is to go is found by looking at all. */
  #makeRoom(): void {
    const mostFirst = [...this.#waiting].sort(([, a], [, b]) => b - a);
    for (const [connection] of mostFirst) {
      if (this.#allWaiting <= WAITING_MAX - WAITING_ROOM) return;
      this.#cutOff(connection);
    }
  }

  #cutOff(connection: Socket): void {
    stopParsing(connection);
    connection.destroy();
    this.gone(connection);
  }

  #waitsNoMore(connection: Socket, requests: number): void {
    const left = (this.#waiting.get(connection) ?? 0) - requests;
    this.#allWaiting -= requests;
    if (left > 0) this.#waiting.set(connection, left);
    else this.#waiting.delete(connection);
  }
}

/**
 * A destroyed connection still has the rest of its packet parsed, into some 20 µs of objects a request. Node's parser asks
 * `onIncoming` (in no types) what each request is; 2 is llhttp's answer for an upgrade: no body, and what follows is not HTTP.
 */
function stopParsing(
  socket: Socket & { parser?: { onIncoming?: (req: { upgrade?: boolean }) => number } | null },
): void {
  if (!socket.parser) return;
  socket.parser.onIncoming = (req) => {
    req.upgrade = false; // Else Node would hand the socket to whoever upgrades.
    return 2;
  };
}
