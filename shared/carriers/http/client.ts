import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import { defined } from '../../platform/runtime/defined.ts';
import { LimitedReading } from '../../platform/runtime/limited-reading.ts';
import { createHostResolver, type ResolveHost } from '../../platform/runtime/resolve-host.ts';

/** `not_sent`: nobody can have read anything. `no_answer`: perhaps written, and no complete answer came. */
export type Exchange =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly body: Buffer;
      /** The value of the `Retry-After` header, in milliseconds. */
      readonly retryAfterMs?: number;
    }
  | { readonly kind: 'not_sent' | 'no_answer'; readonly code: string };

export interface HttpClientOptions {
  /** The most connections, and how many of them are kept while they are idle. */
  readonly sockets: number;
  readonly idleSockets: number;
  /** For requests that name no other. */
  readonly timeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: AgentOptions;
  readonly resolve?: ResolveHost;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Limits both the bytes of the connection and the body after decompression. */
  readonly answerBytesMax: number;
}

/** Shorter than servers keep idle connections: a send over one that is just closing would lose its answer. */
const IDLE_SOCKET_MS = 4_000;
const RETRY_AFTER_MAX_S = 3_600;

/**
 * The HTTP client of one provider or carrier; only this file imports axios. Uses no proxy from the environment, follows
 * no redirects, limits answers. Each client has its own connections, so a provider that hangs takes none from others.
 */
export class HttpClient {
  readonly #axios: AxiosInstance;
  readonly #agents: readonly (HttpAgent | HttpsAgent)[];
  readonly #options: HttpClientOptions;
  readonly #open = new Set<AbortController>();

  constructor(options: HttpClientOptions) {
    this.#options = options;
    const { sockets, idleSockets, headers, tls, resolve = createHostResolver() } = options;
    const settings = {
      keepAlive: true,
      maxSockets: sockets,
      maxFreeSockets: idleSockets,
      timeout: IDLE_SOCKET_MS,
      lookup: lookupBy(resolve),
    };
    const httpAgent = new HttpAgent(settings);
    const httpsAgent = new HttpsAgent({ ...settings, ...tls });
    this.#agents = [httpAgent, httpsAgent];
    this.#axios = axios.create({
      adapter: 'http',
      httpAgent,
      httpsAgent,
      proxy: false,
      maxRedirects: 0,
      responseType: 'arraybuffer',
      decompress: false,
      validateStatus: () => true,
      transformRequest: [(body: unknown) => body],
      transformResponse: [(body: unknown) => body],
      headers: {
        common: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
        post: { 'content-type': 'application/json' },
      },
    });
  }

  /** Never rejects: failures are exchanges too. */
  async exchange({ method, url, body, headers, timeoutMs, signal, answerBytesMax }: HttpRequest): Promise<Exchange> {
    const abort = new AbortController();
    this.#open.add(abort);
    const timer = setTimeout(() => abort.abort(), timeoutMs ?? this.#options.timeoutMs);
    const wire = new RequestWire(answerBytesMax);
    try {
      const response = await this.#axios.request({
        method,
        url,
        ...defined({ data: body, headers }),
        transport: wire,
        signal: signal === undefined ? abort.signal : AbortSignal.any([abort.signal, signal]),
      });
      return await answered(response, answerBytesMax);
    } catch (error) {
      const code = abort.signal.aborted || signal?.aborted === true ? 'timeout' : (wire.cutOffFor ?? codeOf(error));
      return { kind: wire.connected ? 'no_answer' : 'not_sent', code };
    } finally {
      clearTimeout(timer);
      this.#open.delete(abort);
    }
  }

  /** Aborts requests in progress, whose outcome is then unknown, and closes all connections. */
  close(): void {
    for (const abort of this.#open) abort.abort();
    for (const agent of this.#agents) agent.destroy();
  }
}

async function answered({ status, data, headers }: AxiosResponse<unknown>, bytesMax: number): Promise<Exchange> {
  const retryAfter = Number(headers['retry-after']);
  const waits = Number.isFinite(retryAfter) && retryAfter > 0;
  return {
    kind: 'answered',
    status,
    body: Buffer.isBuffer(data) ? await unpack(data, headers['content-encoding'], bytesMax) : Buffer.alloc(0),
    ...(waits ? { retryAfterMs: Math.min(retryAfter, RETRY_AFTER_MAX_S) * 1_000 } : {}),
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'failed';
}

/** Without the system's resolver: there, four names that hang would block every other account's provider. */
function lookupBy(resolve: ResolveHost): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        const [first] = found;
        if (first === undefined) callback(new Error(`${hostname} has no address`), '', 0);
        else if (options.all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

const gunzipAsync = promisify(gunzip);

/**
 * We ask for no compressed answers, but some proxies send them, and an unread answer to an accepted send would be
 * unknown. Works on the complete body, in a thread: piece by piece was slower. Other codings are left as they are.
 * Rejects when the body is broken or longer than `bytesMax`.
 */
async function unpack(body: Buffer, coding: unknown, bytesMax: number): Promise<Buffer> {
  if (coding !== 'gzip' && coding !== 'x-gzip') return body;
  return await gunzipAsync(body, { maxOutputLength: bytesMax });
}

/** Interim answers (1xx). Nothing that we send asks for any (RFC 9110 §15.2). */
const INTERIM_ANSWERS_MAX = 8;
/** By connection, which later requests use again. */
const READINGS = new WeakMap<Socket, LimitedReading>();

/**
 * Makes one request. Notes when its connection is made, because before that none of its bytes can have left. Limits the
 * interim answers and all bytes of the connection, head and chunk sizes included.
 */
class RequestWire {
  connected = false;
  readonly #answerBytesMax: number;
  #interimAnswers = 0;
  #reading: LimitedReading | undefined;

  constructor(answerBytesMax: number) {
    this.#answerBytesMax = answerBytesMax;
  }

  get cutOffFor(): string | undefined {
    if (this.#interimAnswers > INTERIM_ANSWERS_MAX) return 'too_many_interim_answers';
    return this.#reading?.tooLong === true ? 'answer_too_long' : undefined;
  }

  request(
    options: object & { readonly protocol?: string },
    onResponse: (response: IncomingMessage) => void,
  ): ClientRequest {
    const secure = options.protocol === 'https:';
    const request = (secure ? httpsRequest : httpRequest)(options, onResponse);
    request.on('socket', (socket: Socket) => {
      this.#limit(socket);
      const connect = (): void => {
        this.connected = true;
      };
      // A kept connection, or an uncertain state: bytes of the request may leave at once. On a new one, TLS holds them
      // back until the handshake is done.
      if (!socket.connecting) connect();
      else socket.once(secure ? 'secureConnect' : 'connect', connect);
    });
    request.on('information', () => {
      if (++this.#interimAnswers > INTERIM_ANSWERS_MAX) request.destroy();
    });
    return request;
  }

  #limit(socket: Socket): void {
    this.#reading = READINGS.get(socket) ?? new LimitedReading(socket, this.#answerBytesMax);
    this.#reading.bytesMax = this.#answerBytesMax;
    READINGS.set(socket, this.#reading);
  }
}
