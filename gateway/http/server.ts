import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { newId } from '../../shared/runtime/ids.ts';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import { COMMON_HEADERS, PROBLEM_TYPE } from './answer.ts';
import { expressObjects } from './express-objects.ts';
import { PROBLEMS, type ProblemSlug, problemBody } from './problem.ts';

/** Milliseconds. */
interface ServerTimes {
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number;
  /** From a request's first byte to the end of its headers, and to the end of its body; then 408. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often these are looked at. */
  readonly checkMs: number;
}

/** Idle longer than the 60 s of common proxies, so that they close a connection first and never meet one that is closing. */
const TIMES: ServerTimes = { keepAliveMs: 65_000, headersMs: 10_000, requestMs: 30_000, checkMs: 2_000 };

/** How long a stop waits for answers, and how long for a request on connections that wait for none. */
const DRAIN_MS = 10_000;
const UNASKED_MS = 1_000;

/**
 * Of a connection. Who sends more without waiting for an answer is cut off: a packet of 64 KB holds 3,600, and making their
 * objects held the event loop for 90 to 300 ms; up to here, making and dropping them, for 14 (36 at the first time).
 */
const PIPELINED_MAX = 500;
/** Of all connections. Beyond it, few may wait on each: a packet on each of many connections comes in one turn of the event loop. */
const WAITING_MAX = 1_000;
const PIPELINED_CROWDED = 2;

/** How long a refused connection stays open for its answer to arrive. */
const REFUSED_MS = 1_000;

/** The HTTP server around the app: its times, its end, and the answers to what is not HTTP. It does not listen yet. */
export class GatewayServer {
  readonly http: Server;
  /** The newest answer of each connection, to see whether one is being written or waited for. */
  readonly #answers = new Map<Duplex, ServerResponse>();
  readonly #sockets = new Set<Socket>();
  readonly #refused = new WeakSet<Duplex>();
  /** Requests of a connection that wait for the answers before theirs. */
  readonly #waiting = new Map<Duplex, number>();
  #allWaiting = 0;
  /** Connections of which a request was handled in this turn of the event loop. */
  readonly #served = new Set<Duplex>();

  constructor(app: RequestListener, times: ServerTimes = TIMES) {
    const handle = (req: IncomingMessage, res: ServerResponse): void => {
      const { socket } = req;
      if (socket.destroyed) return;
      const before = this.#answers.get(socket);
      this.#answers.set(socket, res);
      req.url = originForm(req.url ?? '/');
      const answered = before === undefined || before.writableFinished;
      if (answered && this.#isFirstOfTurn(socket)) {
        app(req, res);
        return;
      }
      // Sent without waiting for the answer before. A packet holds thousands of such requests, and all at once they held the
      // event loop for seconds: one a turn, and nothing more is read until the last one's turn.
      socket.pause();
      if (!this.#mayWait(socket)) {
        stopParsing(socket);
        socket.destroy();
        return;
      }
      const inItsTurn = (): void => {
        setImmediate(() => {
          if (socket.destroyed) return;
          this.#waitsNoMore(socket, 1);
          if (this.#answers.get(socket) === res) socket.resume();
          app(req, res);
        });
      };
      if (answered) inItsTurn();
      else before.once('close', inItsTurn);
    };
    this.http = createServer({
      ...expressObjects(app),
      keepAliveTimeout: times.keepAliveMs,
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      connectionsCheckingInterval: times.checkMs,
      // Small answers must not wait for the peer's delayed acknowledgement.
      noDelay: true,
      // `begin` says it, with a body.
      requireHostHeader: false,
    });
    this.http
      .on('request', handle)
      // Whoever asks first is answered like everyone else; the body parser says "100 Continue" when it wants the body.
      .on('checkContinue', handle)
      .on('checkExpectation', handle)
      .on('connection', (socket) => {
        this.#sockets.add(socket);
        socket.once('close', () => {
          this.#sockets.delete(socket);
          this.#answers.delete(socket);
          this.#waitsNoMore(socket, this.#waiting.get(socket) ?? 0);
        });
      })
      .on('clientError', (error, socket) => this.#answerClientError(error, socket));
  }

  /** Resolves with the port (given one for 0) when connections are accepted; else rejects with a `StartError` that says why. */
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
   * Accepts no more connections, closes the idle ones and waits for answers in flight (they close theirs, see answer.ts).
   * What is not answered after `DRAIN_MS` is cut off.
   */
  async drain(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()));
    this.http.closeIdleConnections();
    const unasked = setTimeout(() => this.#closeUnasked(), UNASKED_MS);
    const late = setTimeout(() => this.http.closeAllConnections(), DRAIN_MS);
    await closed;
    clearTimeout(unasked);
    clearTimeout(late);
  }

  /** A request with a body can be answered before the next one of its packet is parsed. */
  #isFirstOfTurn(socket: Duplex): boolean {
    if (this.#served.has(socket)) return false;
    if (this.#served.size === 0) setImmediate(() => this.#served.clear());
    this.#served.add(socket);
    return true;
  }

  #mayWait(socket: Duplex): boolean {
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    this.#waiting.set(socket, waiting);
    this.#allWaiting += 1;
    return waiting <= (this.#allWaiting > WAITING_MAX ? PIPELINED_CROWDED : PIPELINED_MAX);
  }

  #waitsNoMore(socket: Duplex, requests: number): void {
    const left = (this.#waiting.get(socket) ?? 0) - requests;
    this.#allWaiting -= requests;
    if (left > 0) this.#waiting.set(socket, left);
    else this.#waiting.delete(socket);
  }

  /** Node counts a connection that never sent anything as active; a client that keeps one in store would delay every stop. */
  #closeUnasked(): void {
    for (const socket of this.#sockets) {
      if (this.#answers.get(socket)?.writableFinished ?? true) socket.destroy();
    }
  }

  /** What Node's parser refuses never becomes a request; it is answered in the same shape as everything else. */
  #answerClientError(error: Error, socket: Duplex): void {
    // The parser complains again about each further piece of what it refused.
    if (this.#refused.has(socket)) return;
    this.#refused.add(socket);
    const answer = this.#answers.get(socket);
    const answering = answer !== undefined && !answer.writableFinished;
    if (answering && answer.req.complete) {
      // An earlier request of this connection is still being answered: an answer now would be taken for its own.
      answer.once('close', () => socket.destroy());
    } else if (!socket.writable || isReset(error)) {
      socket.destroy();
    } else if (answering && answer.headersSent) {
      // Refused by its headers, its answer is written whole (answer.ts) and perhaps not sent yet: the body may be broken now.
      answer.end();
      setTimeout(() => socket.destroy(), REFUSED_MS).unref();
    } else {
      socket.end(rawProblem(slugOf(error)));
      // Closing at once, with the rest of the broken request unread, would reset the connection before the answer is seen.
      setTimeout(() => socket.destroy(), REFUSED_MS).unref();
    }
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

/**
 * The path and query of an absolute-form target (RFC 9112 §3.2.2), with anything in place of a host; other targets as they are. The
 * router would parse the host, and answer `http://[::1/` with a page of its own.
 */
function originForm(target: string): string {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target) ?? [];
  if (scheme === undefined) return target;
  const rest = target.slice(scheme.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
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

function rawProblem(slug: ProblemSlug): string {
  const requestId = newId('req');
  const { status, title } = PROBLEMS[slug];
  const body = JSON.stringify(problemBody(slug, requestId));
  const lines = [`HTTP/1.1 ${status} ${title}`];
  for (let i = 0; i + 1 < COMMON_HEADERS.length; i += 2) lines.push(`${COMMON_HEADERS[i]}: ${COMMON_HEADERS[i + 1]}`);
  lines.push(
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  );
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function listenError(error: Error, host: string, port: number): Error {
  const code = 'code' in error ? error.code : undefined;
  const where = `${host}:${port}`;
  if (code === 'EADDRINUSE') {
    return new StartError(`${where} is in use by another program. Stop it, or set PORT to another port.`);
  }
  if (code === 'EACCES') return new StartError(`${where} may not be listened on by this user. Set PORT above 1023.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartError(`${host} is not an address of this machine. Set HOST to one that is.`);
  }
  return error;
}
