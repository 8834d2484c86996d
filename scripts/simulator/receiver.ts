import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { webhookLine } from './lines.ts';
import { closeAtOnce, listenLocally } from './listen.ts';
import { RecentCounts } from './pace/pace.ts';
import { Received, type ReceivedWebhook, Signatures } from './receiver/received.ts';

export interface ReceiverOptions {
  /** TCP port on 127.0.0.1. Default 0: the system chooses. */
  readonly port?: number;
  /** Secrets (`whsec_…`) trusted on every path. */
  readonly secrets?: readonly string[];
  /** Posts to remember. Default 10,000. */
  readonly keep?: number;
  /** Decides the answer; undefined leaves it to the path. The post has no `status` yet. */
  readonly respond?: ((post: Omit<ReceivedWebhook, 'status'>) => Partial<Reply> | undefined) | undefined;
  /** Called with each post once its answer is decided. */
  readonly onWebhook?: ((post: ReceivedWebhook) => void) | undefined;
  /** More pages for GET by path; their results are shown as JSON. */
  readonly pages?: Readonly<Record<string, () => unknown>>;
  /** A POST to one of these paths runs the action and shows its result as JSON; it counts as no webhook. */
  readonly actions?: Readonly<Record<string, (url: URL, body: string) => unknown>>;
}

export interface Receiver {
  /** Without a path, such as `http://127.0.0.1:4010`. */
  readonly url: string;
  /** Oldest first. */
  received(): ReceivedWebhook[];
  /** Trusts a secret on one path (without its query) or on all. Throws RangeError for an invalid secret. */
  trust(secret: string, path?: string): void;
  /** Breaks all connections and frees the port. */
  close(): Promise<void>;
}

const MAX_BODY_OCTETS = 1_000_000;
const MAX_SECRET_OCTETS = 1_000;
const MAX_COUNTED_IDS = 100_000;
const SHOWN_POSTS = 50;

/**
 * Rejects with the error of `listen`.
 *
 * A `POST` to any path is a webhook; the path decides the answer (`replyTo`). `?secret=whsec_…` gives the secret for
 * its signature. `PUT` to a path trusts the secret in the body on that path. `GET /` shows the last posts to a person,
 * `GET /received` all of them as JSON.
 */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const received = new Received(options.keep ?? 10_000);
  const signatures = new Signatures();
  const tries = new RecentCounts(MAX_COUNTED_IDS);
  for (const secret of options.secrets ?? []) signatures.trust(secret);
  const pages: Readonly<Record<string, () => unknown>> = { '/received': () => received.all(), ...options.pages };

  const { actions = {} } = options;
  const onPost = (
    url: URL,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    response: ServerResponse,
  ): void => {
    const path = url.pathname;
    const action = actions[path];
    if (action !== undefined) {
      json(response, action(url, body.toString()));
      return;
    }
    const secret = url.searchParams.get('secret');
    if (secret !== null) signatures.trust(secret, path);
    const id = headers['webhook-id'] ?? '';
    const text = body.toString();
    const post = {
      at: Date.now(),
      path,
      id,
      tries: id === '' ? 1 : tries.add(`${path} ${id}`),
      signature: signatures.check(path, headers, body),
      headers,
      body: text,
      json: jsonObject(text),
    };
    const reply = { ...replyTo(path, post.tries), ...options.respond?.(post) };
    const whole: ReceivedWebhook = { ...post, status: reply.drop ? 0 : reply.status };
    received.add(whole);
    options.onWebhook?.(whole);
    send(response, reply);
  };

  const server = createServer((request, response) => {
    const url = requestUrl(request);
    const limit = request.method === 'PUT' ? MAX_SECRET_OCTETS : MAX_BODY_OCTETS;
    readBody(request, limit)
      .then((body) => {
        if (url === undefined) text(response, 400, 'no such address\n');
        else if (body === undefined) text(response, 413, `more than ${limit} octets\n`);
        else if (request.method === 'POST') onPost(url, plainHeaders(request), body, response);
        else if (request.method === 'PUT') trust(signatures, url.pathname, body, response);
        else get(url.pathname, received, pages, response);
      })
      .catch((error: unknown) => {
        // The sender broke off, or `?secret=` is invalid; in the second case the sender gets an answer.
        if (!response.headersSent) text(response, 400, `${error instanceof Error ? error.message : 'unreadable'}\n`);
      });
  });
  const port = await listenLocally(server, options.port ?? 0);

  return {
    url: `http://127.0.0.1:${port}`,
    received: () => received.all(),
    trust: (secret, path) => signatures.trust(secret, path),
    close: () => closeAtOnce(server),
  };
}

function send(response: ServerResponse, reply: Reply): void {
  const answer = () => {
    if (reply.drop) response.destroy();
    else finish(response, reply.status, reply.headers, reply.octets > 0 ? Buffer.alloc(reply.octets, 'x') : 'ok\n');
  };
  if (reply.delayMs === 0) answer();
  else {
    const timer = setTimeout(answer, reply.delayMs);
    response.once('close', () => clearTimeout(timer));
  }
}

/** Sets the length, so that the answer is not chunked. */
function finish(response: ServerResponse, status: number, headers: OutgoingHttpHeaders, body: string | Buffer): void {
  const bodiless = status === 204 || status === 304;
  response.writeHead(status, bodiless ? headers : { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(bodiless ? undefined : body);
}

function trust(signatures: Signatures, path: string, body: Buffer, response: ServerResponse): void {
  signatures.trust(body.toString().trim(), path);
  text(response, 200, `trusted on ${path}\n`);
}

function get(
  path: string,
  received: Received,
  pages: Readonly<Record<string, () => unknown>>,
  response: ServerResponse,
): void {
  if (path === '/') {
    const lines = received.all().slice(-SHOWN_POSTS).map(webhookLine);
    text(response, 200, lines.length === 0 ? 'Nothing has come yet.\n' : `${lines.join('\n')}\n`);
    return;
  }
  const page = pages[path];
  if (page === undefined) text(response, 404, `Here are / and ${Object.keys(pages).join(' and ')}.\n`);
  else json(response, page());
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(`${JSON.stringify(value, null, 2)}\n`);
}

function text(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body);
}

/** Undefined if the body is longer than `limit`. Rejects if the sender breaks off. */
function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let octets = 0;
    request.on('data', (chunk: Buffer) => {
      octets += chunk.length;
      if (octets <= limit) chunks.push(chunk);
    });
    request.once('end', () => resolve(octets <= limit ? Buffer.concat(chunks) : undefined));
    request.once('error', reject);
  });
}

function requestUrl(request: IncomingMessage): URL | undefined {
  try {
    return new URL(request.url ?? '/', 'http://127.0.0.1');
  } catch {
    // An invalid URL: the caller answers with 400.
    return undefined;
  }
}

function plainHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}

function jsonObject(body: string): Readonly<Record<string, unknown>> {
  if (!/^\s*\{/.test(body)) return {};
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // No JSON: the caller keeps the body as it came.
    return {};
  }
}

/** The answer to a post, from the segments of its path. */
interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds before the answer. */
  readonly delayMs: number;
  /** Breaks the connection in place of an answer. */
  readonly drop: boolean;
  /** Length of the answer's body. */
  readonly octets: number;
}

const PLAIN_REPLY: Reply = { status: 200, headers: {}, delayMs: 0, drop: false, octets: 0 };

/** So that a forgotten request ends some day. */
const MAX_DELAY_MS = 600_000;

const MAX_OCTETS = 100_000_000;

/**
 * Reads the segments of a path: `/status/500`, `/slow/3000`, `/redirect`, `/410`, `/flaky/3` (500 for the first three
 * tries of each webhook-id, then 200), `/retry-after/5`, `/drop`, `/big/1000000`. They can be combined, as in
 * `/slow/200/status/503/retry-after/5`; others mean nothing. `tries` counts from 1 for each webhook-id.
 */
function replyTo(path: string, tries: number): Reply {
  const segments = path.split('/');
  let reply = PLAIN_REPLY;
  for (const [at, segment] of segments.entries()) {
    const value = Number(segments[at + 1] ?? Number.NaN);
    switch (segment) {
      case 'status':
        if (value >= 200 && value <= 599) reply = { ...reply, status: value };
        break;
      case '410':
        if (segments[at - 1] !== 'status') reply = { ...reply, status: 410 };
        break;
      case 'slow':
        if (value >= 0) reply = { ...reply, delayMs: Math.min(value, MAX_DELAY_MS) };
        break;
      case 'redirect':
        reply = { ...reply, status: 302, headers: { ...reply.headers, location: '/redirected' } };
        break;
      case 'flaky':
        if (tries <= value) reply = { ...reply, status: 500 };
        break;
      case 'retry-after':
        if (value >= 0) reply = { ...reply, headers: { ...reply.headers, 'retry-after': String(value) } };
        break;
      case 'big':
        if (value >= 0) reply = { ...reply, octets: Math.min(value, MAX_OCTETS) };
        break;
      case 'drop':
        reply = { ...reply, drop: true };
        break;
    }
  }
  return reply;
}
