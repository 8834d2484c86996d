import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { createHostResolver, type ResolveHost } from '../../../shared/events/webhooks/resolve-host.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { LimitedReading } from '../../../shared/platform/runtime/limited-reading.ts';
import type { Exchange } from './answer.ts';

/**
 * The HTTP client of one account's provider; only this file imports axios. Uses no proxy from the environment,
 * follows no redirects, reads bodies as bytes, limits answers and keeps connections alive. Each account has its own
 * connections, so a provider that hangs takes none from others.
 */
export interface ProviderClientOptions {
  readonly provider: Pick<
    ProviderDocument,
    'baseUrl' | 'phoneNumberId' | 'businessId' | 'appId' | 'windowSize' | 'timeoutMs'
  >;
  /** The access token, decrypted. */
  readonly token: string;
  readonly resolve?: ResolveHost;
}

/** The answer to a send has some hundred bytes, but a proxy's error page can be long. */
const SEND_ANSWER_BYTES_MAX = 65_536;
/** A page of the list has up to 50 templates, and each has some KB. */
const TEMPLATES_ANSWER_BYTES_MAX = 1_048_576;
/**
 * Shorter than the time after which servers usually close an idle connection. A send over a connection that is just
 * being closed would lose its answer.
 */
const IDLE_SOCKET_MS = 4_000;
/** Connections for the templates, in addition to those for sends. */
const MORE_SOCKETS = 2;
const TEMPLATES_PAGE = 50;
const TEMPLATE_FIELDS = 'name,status,category,language,components,parameter_format,id,rejected_reason,quality_score';
const RETRY_AFTER_MAX_S = 3_600;
/** Time limit of an upload, which may have 16 MB. */
const UPLOAD_MS = 60_000;

interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The provider's `timeoutMs` unless told. */
  readonly timeoutMs?: number;
  /** Cuts it off early. */
  readonly signal?: AbortSignal;
  /** Limits two sizes: what comes over the connection, and the body after decompression. */
  readonly answerBytesMax: number;
}

export class ProviderClient {
  readonly #axios: AxiosInstance;
  readonly #agents: readonly (HttpAgent | HttpsAgent)[];
  readonly #options: ProviderClientOptions;
  readonly #open = new Set<AbortController>();

  constructor(options: ProviderClientOptions) {
    this.#options = options;
    const { provider, token, resolve = createHostResolver() } = options;
    const settings = {
      keepAlive: true,
      maxSockets: provider.windowSize + MORE_SOCKETS,
      maxFreeSockets: provider.windowSize,
      timeout: IDLE_SOCKET_MS,
      lookup: lookupBy(resolve),
    };
    const httpAgent = new HttpAgent(settings);
    const httpsAgent = new HttpsAgent(settings);
    this.#agents = [httpAgent, httpsAgent];
    this.#axios = axios.create({
      adapter: 'http',
      httpAgent,
      httpsAgent,
      proxy: false,
      maxRedirects: 0,
      responseType: 'arraybuffer',
      // `unpack` decompresses the complete body.
      decompress: false,
      validateStatus: () => true,
      transformRequest: [(body: unknown) => body],
      transformResponse: [(body: unknown) => body],
      headers: {
        common: { authorization: `Bearer ${token}`, accept: 'application/json', 'accept-encoding': 'identity' },
        post: { 'content-type': 'application/json' },
      },
    });
  }

  /** Posts one message. Never rejects: failures are exchanges too. */
  send(payload: Buffer): Promise<Exchange> {
    const { baseUrl, phoneNumberId } = this.#options.provider;
    return this.#exchange({
      method: 'POST',
      url: `${baseUrl}/${phoneNumberId}/messages`,
      body: payload,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
    });
  }

  /** Asks for the account's number, which changes nothing there; `health_status`: whether it may send. Never rejects. */
  number(field: 'id' | 'health_status' = 'id'): Promise<Exchange> {
    const { baseUrl, phoneNumberId } = this.#options.provider;
    return this.#exchange({
      method: 'GET',
      url: `${baseUrl}/${phoneNumberId}?fields=${field}`,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
    });
  }

  /** Reads the page of the business's templates that follows the cursor, or of those with a name. Never rejects. */
  templates(after: string | undefined, name?: string): Promise<Exchange> {
    const query = new URLSearchParams({
      fields: TEMPLATE_FIELDS,
      limit: String(TEMPLATES_PAGE),
      ...defined({ name, after }),
    });
    return this.#exchange({
      method: 'GET',
      url: `${this.#templatesUrl}?${query}`,
      answerBytesMax: TEMPLATES_ANSWER_BYTES_MAX,
    });
  }

  /** Asks for a new template, or for another content of one. Never rejects. */
  submitTemplate(payload: Buffer, upstreamId?: string): Promise<Exchange> {
    const { baseUrl } = this.#options.provider;
    return this.#exchange({
      method: 'POST',
      url: upstreamId === undefined ? this.#templatesUrl : `${baseUrl}/${encodeURIComponent(upstreamId)}`,
      body: payload,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
    });
  }

  /** Without the id the provider would delete the template in all languages. Never rejects. */
  deleteTemplate(name: string, upstreamId: string): Promise<Exchange> {
    const query = new URLSearchParams({ hsm_id: upstreamId, name });
    return this.#exchange({
      method: 'DELETE',
      url: `${this.#templatesUrl}?${query}`,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
    });
  }

  /** Begins an upload of a file to the provider's app: step 1 of its resumable upload. Never rejects. */
  startUpload(file: { readonly name: string; readonly mime: string }, length: number, signal: AbortSignal) {
    const { baseUrl, appId = '' } = this.#options.provider;
    const query = new URLSearchParams({ file_name: file.name, file_length: String(length), file_type: file.mime });
    return this.#exchange({
      method: 'POST',
      url: `${baseUrl}/${appId}/uploads?${query}`,
      headers: this.#uploadHeaders,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
      signal,
    });
  }

  /** Step 2: the file as a whole. `session` is `upload:…?sig=…`, whose query stays one. Never rejects. */
  upload(session: string, body: Buffer, signal: AbortSignal): Promise<Exchange> {
    return this.#exchange({
      method: 'POST',
      url: `${this.#options.provider.baseUrl}/${session}`,
      body,
      headers: { ...this.#uploadHeaders, file_offset: '0', 'content-type': 'application/octet-stream' },
      timeoutMs: UPLOAD_MS,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
      signal,
    });
  }

  /** The only calls with this scheme (Graph API, "Resumable Upload API"). */
  get #uploadHeaders() {
    return { authorization: `OAuth ${this.#options.token}` };
  }

  get #templatesUrl(): string {
    const { baseUrl, businessId } = this.#options.provider;
    return `${baseUrl}/${businessId}/message_templates`;
  }

  /** Cuts off requests in progress (their answers are unknown then) and closes all connections. */
  close(): void {
    for (const abort of this.#open) abort.abort();
    for (const agent of this.#agents) agent.destroy();
  }

  async #exchange({ method, url, body, headers, timeoutMs, signal, answerBytesMax }: Request): Promise<Exchange> {
    const abort = new AbortController();
    this.#open.add(abort);
    const timer = setTimeout(() => abort.abort(), timeoutMs ?? this.#options.provider.timeoutMs);
    const wire = new Wire(answerBytesMax);
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

/**
 * Looks up names without the system's resolver. Four names that hang would block that one, and with it every other
 * account's provider.
 */
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
 * Decompresses a body. We do not ask for compressed answers, but some proxies send them, and without this an accepted
 * send would be unknown. Works on the complete body, in a thread, up to `bytesMax`. Decompressing piece by piece cost
 * the event loop a round trip to the thread and a buffer for every few bytes. Other codings are left as they are and
 * cannot be read. Rejects when the body is broken or too long.
 */
async function unpack(body: Buffer, coding: unknown, bytesMax: number): Promise<Buffer> {
  if (coding !== 'gzip' && coding !== 'x-gzip') return body;
  return await gunzipAsync(body, { maxOutputLength: bytesMax });
}

/** The most interim answers (1xx). Nothing that we send asks for any (RFC 9110 §15.2). */
const INTERIM_ANSWERS_MAX = 8;
/** The limits of connections that are kept for later requests. */
const READINGS = new WeakMap<Socket, LimitedReading>();

/**
 * Makes one request. Watches when its connection is made, because before that none of its bytes can have left. Limits
 * what comes back: the interim answers, and all bytes of the connection, head and chunk sizes included.
 */
class Wire {
  connected = false;
  readonly #answerBytesMax: number;
  #interimAnswers = 0;
  #reading: LimitedReading | undefined;

  constructor(answerBytesMax: number) {
    this.#answerBytesMax = answerBytesMax;
  }

  /** Why we cut the connection off, if we did. */
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
      // The connection was kept, or its state is uncertain, so bytes of the request may leave at once. On a new connection, TLS
      // holds the request back until the handshake is done.
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
