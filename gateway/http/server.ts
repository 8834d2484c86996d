import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { COMMON_HEADERS, PROBLEM_TYPE } from './answer.ts';
import type { Reply } from './context.ts';
import { PROBLEMS, type ProblemSlug, problemBody } from './problem.ts';

/** Milliseconds. */
interface ServerTimes {
  readonly keepAliveMs: number;
  /** From a request's first byte to the end of its headers, and to the end of its body; then the answer is 408. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
  /** How long an answer is kept while the caller reads nothing of it. */
  readonly unreadMs: number;
}

/**
 * Longer than the 60 s of common proxies, so that the proxy closes idle connections first and never sends a request to
 * one that we are closing.
 */
const TIMES: ServerTimes = {
  keepAliveMs: 65_000,
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 2_000,
  unreadMs: 30_000,
};

/** How long a stop waits for answers, and for the first request of connections that have sent none. */
const DRAIN_MS = 10_000;
const SILENT_MS = 1_000;

/**
 * The HTTP server around the app: time limits, shutdown, and answers to bytes that are not HTTP. Does not listen yet.
 */
export class GatewayServer {
  readonly http: Server;
  readonly #app: RequestListener;
  /** The newest answer of each connection. */
  readonly #newest = new WeakMap<Duplex, ServerResponse>();
  readonly #connections = new Set<Socket>();
  readonly #refused = new WeakSet<Duplex>();

  constructor(app: RequestListener, changed: Partial<ServerTimes> = {}) {
    const times = { ...TIMES, ...changed };
    this.#app = app;
    this.http = createServer({
      ...expressObjects(app),
      keepAliveTimeout: times.keepAliveMs,
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      connectionsCheckingInterval: times.checkMs,
      // Small answers must not wait for the peer's delayed acknowledgement.
      noDelay: true,
      // `begin` answers requests without `Host`, with a body.
      requireHostHeader: false,
    });
    const handle = (req: IncomingMessage, res: ServerResponse): void => this.#handle(req, res);
    this.http
      .on('request', handle)
      // Handled like any request. The body parser writes "100 Continue" when it wants the body.
      .on('checkContinue', handle)
      .on('checkExpectation', handle)
      .on('connection', (socket) => {
        this.#connections.add(socket);
        socket.once('close', () => this.#connections.delete(socket));
      })
      .on('clientError', (error, socket) => this.#refuse(error, socket))
      // Nothing was sent or received for this time. Callers who wait for our answer may wait longer.
      .setTimeout(times.unreadMs, (socket) => {
        if (socket.writableLength > 0 || this.#awaited(socket) === undefined) socket.destroy();
      });
  }

  /** Resolves with the port when connections are accepted; port 0 takes any free one. Rejects with a `StartError`. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.http.once('error', (error) => reject(listenError(error, host, port)));
      this.http.listen(port, host, () => {
        const address = this.http.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /**
   * Accepts no more connections, closes idle ones and waits for answers in progress (answer.ts closes their
   * connections). Cuts off what is not answered after `DRAIN_MS`.
   */
  async drain(): Promise<void> {
    // Node's `close` treats a connection as idle when its answer is written but not sent yet. While there is such a
    // connection, connections without a request wait too.
    const areSending = [...this.#connections].some(({ writableLength }) => writableLength > 0);
    if (areSending) this.http.closeIdleConnections = () => {};
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()));
    const silent = setInterval(() => this.#closeSilent(), SILENT_MS);
    const late = setTimeout(() => this.http.closeAllConnections(), DRAIN_MS);
    await closed;
    clearInterval(silent);
    clearTimeout(late);
  }

  #handle(req: IncomingMessage, res: ServerResponse): void {
    if (req.socket.destroyed) return;
    req.url = originForm(req.url ?? '/');
    this.#newest.set(req.socket, res);
    this.#app(req, res);
  }

  /** The answer that the connection waits for; the newest one if there are several. */
  #awaited(connection: Duplex): ServerResponse | undefined {
    const newest = this.#newest.get(connection);
    return newest?.writableFinished === false ? newest : undefined;
  }

  /** Node counts a connection that never sent anything as active, so an unused one would delay every stop. */
  #closeSilent(): void {
    for (const connection of this.#connections) {
      if (this.#awaited(connection) === undefined) connection.destroy();
    }
  }

  #refuse(error: Error, socket: Duplex): void {
    // The parser reports every further piece of the bytes that it refused.
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    refuse(error, socket, this.#awaited(socket));
  }
}

/**
 * The path and query of an absolute-form target (RFC 9112 §3.2.2), whatever host it names. Other targets stay
 * unchanged. The router would parse the host, and answer `http://[::1/` with a page of its own.
 */
function originForm(target: string): string {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target) ?? [];
  if (scheme === undefined) return target;
  const rest = target.slice(scheme.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function listenError(error: Error, host: string, port: number): Error {
  const code = 'code' in error ? error.code : undefined;
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    return new StartError(`${where} is in use by another program. Stop it, or set HARKARA_PORT to another port.`);
  }
  if (code === 'EACCES')
    return new StartError(`${where} may not be listened on by this user. Set HARKARA_PORT above 1023.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartError(`${host} is not an address of this machine. Set HARKARA_HOST to one that is.`);
  }
  return error;
}

interface Prototypes {
  request: object;
  response: object;
}

/**
 * Classes for `createServer` whose objects have Express's prototypes from the start; the app takes its prototypes from
 * them. Otherwise Express changes the prototype of every request and answer, and V8 looks up all their properties
 * slowly: half of a small request's CPU.
 */
function expressObjects(app: RequestListener | (RequestListener & Prototypes)): {
  IncomingMessage?: typeof IncomingMessage;
  ServerResponse?: typeof ServerResponse;
} {
  if (!('request' in app)) return {};
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  app.request = ExpressRequest.prototype;
  app.response = ExpressResponse.prototype;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/** How long a refused connection stays open so that its answer can arrive. */
const REFUSED_MS = 1_000;

/**
 * Ends, with an answer in the usual form, a connection whose bytes Node's parser refused or that sent its request too
 * slowly. `pending`: the answer that the connection waits for.
 */
function refuse(error: Error, connection: Duplex, pending: ServerResponse | undefined): void {
  if (pending?.req.complete) {
    // An earlier request is still being answered. The caller would take an answer now for that one's.
    pending.once('close', () => connection.destroy());
  } else if (!connection.writable || isReset(error)) {
    connection.destroy();
  } else if (pending?.headersSent) {
    // A refusal of the headers is written but may not be sent yet. The broken body no longer matters.
    pending.end();
    destroyAfterAnswer(connection);
  } else {
    connection.end(rawProblem(slugOf(error), rateHeadersOf(pending)));
    destroyAfterAnswer(connection);
  }
}

/** Closing at once, with unread bytes of the request, would reset the connection before the caller sees the answer. */
function destroyAfterAnswer(connection: Duplex): void {
  setTimeout(() => connection.destroy(), REFUSED_MS).unref();
}

function rateHeadersOf(pending: (ServerResponse & Partial<Pick<Reply, 'locals'>>) | undefined): readonly string[] {
  return pending?.locals?.rateHeaders ?? [];
}

function isReset(error: Error): boolean {
  return 'code' in error && error.code === 'ECONNRESET';
}

function slugOf(error: Error): ProblemSlug {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'body_too_large';
  return 'malformed_request';
}

/** `extraHeaders`: names and values in turn. */
function rawProblem(slug: ProblemSlug, extraHeaders: readonly string[]): string {
  const requestId = newId('req');
  const { status, title } = PROBLEMS[slug];
  const body = JSON.stringify(problemBody(slug, requestId));
  const lines = [`HTTP/1.1 ${status} ${title}`];
  const headers = [...COMMON_HEADERS, ...extraHeaders];
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push(
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  );
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
