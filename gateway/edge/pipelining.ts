import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * How many further requests of a connection may wait while one is being answered. Proxies send none before they have the answer,
 * and other clients send hardly any.
 */
const AHEAD_MAX = 32;

/** The requests of one connection. */
interface Pipeline {
  /** Whether a request is being answered, or was answered in this turn of the event loop. */
  busy: boolean;
  newest: ServerResponse;
  readonly waiting: (() => void)[];
}

/**
 * Passes requests to the app: those of one connection one after the other, each in its own turn of the event loop,
 * after the answer to the one before. Node itself passes on all requests of a packet at once, up to 3,600 of the
 * smallest.
 */
export class Pipelining {
  readonly #app: RequestListener;
  readonly #pipelines = new WeakMap<Duplex, Pipeline>();

  constructor(app: RequestListener) {
    this.#app = app;
  }

  /** The answer that `connection` waits for; the newest one if there are several. */
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
    // Nothing more is read from the socket until the last request's turn. But Node still parses all that it has read.
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
 * Node goes on parsing the packet of a destroyed connection and spends some 20 µs on each request in it. Its parser
 * asks `onIncoming` (not in the types) what each request is. 2 means an upgrade to llhttp: no body, and what follows
 * is not HTTP.
 */
function cutOff(socket: Socket & { parser?: { onIncoming?: (req: { upgrade?: boolean }) => number } | null }): void {
  if (socket.parser) {
    socket.parser.onIncoming = (req) => {
      req.upgrade = false; // Otherwise Node would pass the socket to the upgrade handler.
      return 2;
    };
  }
  socket.destroy();
}
