import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Requests of a connection that may wait behind the one that is being answered. Proxies send none ahead, other clients hardly any. */
const AHEAD_MAX = 32;

/** The requests of one connection. */
interface Pipeline {
  /** One of them is being answered, or was in this turn of the event loop. */
  busy: boolean;
  newest: ServerResponse;
  readonly waiting: (() => void)[];
}

/**
 * Hands requests on to the app: those of one connection one after the other, each in a turn of the event loop of its own, after
 * the answer to the one before it. Node itself hands on all that one packet holds at once, 3,600 of the smallest.
 */
export class Pipelining {
  readonly #app: RequestListener;
  readonly #pipelines = new WeakMap<Duplex, Pipeline>();

  constructor(app: RequestListener) {
    this.#app = app;
  }

  /** The answer that `connection` waits for, the newest one if several. */
  pending(connection: Duplex): ServerResponse | undefined {
    const newest = this.#pipelines.get(connection)?.newest;
    return newest?.writableFinished === false ? newest : undefined;
  }

  take(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req;
    const pipeline = this.#pipelines.get(socket);
    if (pipeline === undefined) {
      const first = { busy: true, newest: res, waiting: [] };
      this.#pipelines.set(socket, first);
      this.#serve(first, req, res);
      return;
    }
    pipeline.newest = res;
    if (!pipeline.busy) {
      this.#serve(pipeline, req, res);
      return;
    }
    // Nothing more is read until the last one's turn, but Node parses what it has read to its end.
    socket.pause();
    if (pipeline.waiting.length === AHEAD_MAX) cutOff(socket);
    else pipeline.waiting.push(() => this.#serve(pipeline, req, res));
  }

  #serve(pipeline: Pipeline, req: IncomingMessage, res: ServerResponse): void {
    pipeline.busy = true;
    res.once('close', () => setImmediate(() => this.#serveNext(pipeline, req.socket)));
    this.#app(req, res);
  }

  #serveNext(pipeline: Pipeline, socket: Socket): void {
    pipeline.busy = false;
    const serve = pipeline.waiting.shift();
    if (serve === undefined || socket.destroyed) return;
    if (pipeline.waiting.length === 0) socket.resume();
    serve();
  }
}

/**
 * A destroyed connection still has the rest of its packet parsed, into some 20 µs of objects a request. Node's parser asks
 * `onIncoming` (in no types) what each request is; 2 is llhttp's answer for an upgrade: no body, and what follows is not HTTP.
 */
function cutOff(socket: Socket & { parser?: { onIncoming?: (req: { upgrade?: boolean }) => number } | null }): void {
  if (socket.parser) {
    socket.parser.onIncoming = (req) => {
      req.upgrade = false; // Else Node would hand the socket to whoever upgrades.
      return 2;
    };
  }
  socket.destroy();
}
