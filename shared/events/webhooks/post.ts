import type { IncomingHttpHeaders } from 'node:http';
import type { Agent, Dispatcher } from 'undici';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';
import { type AddressGuard, RefusedAddress } from './address-guard.ts';
import { guardedAgent } from './connect.ts';

/** Posted by undici without its interceptors: no redirects, proxies from the environment, cookies or decompression. */
export interface Post {
  /** The account's address guard applies. Absent: the general one. */
  readonly account?: AccountId | undefined;
  /** `https://host:port` */
  readonly origin: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer;
}

export interface PostResult {
  /** The HTTP status, or our own code when no status line came in time (`failureCode`). */
  readonly result: number | string;
  readonly durationMs: number;
  readonly excerpt?: string;
  readonly retryAfter?: string;
}

export interface PosterOptions {
  readonly guard: AddressGuard;
  readonly clock: Clock;
  /** For one post as a whole, from the look-up of the name to the end of the answer. */
  readonly timeoutMs: number;
}

type ExcerptOf = 'failures' | 'all';

/** Enough of an error page to see what went wrong. Stored for failures only (docs/decisions/0025). */
const EXCERPT_BYTES = 2_048;
/** Limits one answer, with head, interim answers and chunk sizes. A longer one is cut off. */
const ANSWER_BYTES_MAX = 16_384;
/** Interim answers (1xx). Nothing that we send asks for any (RFC 9110 §15.2). */
const INTERIM_ANSWERS_MAX = 8;
/** How long an idle connection is kept if the server does not say. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;

export class Poster {
  readonly #options: PosterOptions;
  /** Their connections are not shared: what one guard allows, another may refuse. */
  readonly #agents = new Map<AddressGuard, Agent>();

  constructor(options: PosterOptions) {
    this.#options = options;
  }

  /** Never rejects: a failure is a result too. `excerptOf`: the answers whose beginning is kept. */
  post({ account, ...post }: Post, excerptOf: ExcerptOf = 'failures'): Promise<PostResult> {
    const { clock, timeoutMs } = this.#options;
    return new Promise((resolve) => {
      const exchange = new Exchange(clock, timeoutMs, excerptOf, resolve);
      try {
        this.#agentFor(account).dispatch({ ...post, method: 'POST' }, exchange);
      } catch (error) {
        exchange.fail(error);
      }
    });
  }

  /** Busy ones included. */
  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }

  #agentFor(account: AccountId | undefined): Agent {
    const { timeoutMs } = this.#options;
    const guard = account === undefined ? this.#options.guard : this.#options.guard.for(account);
    const known = this.#agents.get(guard);
    if (known !== undefined) return known;
    const connector = { guard, timeoutMs, answerBytesMax: ANSWER_BYTES_MAX };
    const agent = guardedAgent(connector, {
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      // Never reached, because the connection is cut off at the same number of bytes. For every header beyond it undici
      // would raise an error, up to a thousand per packet.
      maxHeaderSize: ANSWER_BYTES_MAX,
      // One timer per post covers all phases.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#agents.set(guard, agent);
    return agent;
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #clock: Clock;
  readonly #resolve: (result: PostResult) => void;
  readonly #startedMs: number;
  readonly #excerptOf: ExcerptOf;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #interimAnswers = 0;
  #status: number | undefined;
  #retryAfter: string | undefined;
  #excerpt: Buffer | undefined;

  constructor(clock: Clock, timeoutMs: number, excerptOf: ExcerptOf, resolve: (result: PostResult) => void) {
    this.#clock = clock;
    this.#excerptOf = excerptOf;
    this.#resolve = resolve;
    this.#startedMs = clock.monotonicMs();
    this.#timer = setTimeout(() => this.#abort('timeout'), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The time was over before there was a connection, so nothing was written.
    if (this.#settled) controller.abort(new Error('timeout'));
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    if (statusCode < 200) {
      if (++this.#interimAnswers > INTERIM_ANSWERS_MAX) this.#abort('too_many_interim_answers');
      return;
    }
    this.#status = statusCode;
    const retryAfter = headers['retry-after'];
    this.#retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const missing = EXCERPT_BYTES - (this.#excerpt?.length ?? 0);
    if (missing > 0 && (this.#excerptOf === 'all' || !this.#succeeded)) {
      // A copy, because a slice would keep the whole chunk in memory.
      this.#excerpt = Buffer.concat([this.#excerpt ?? Buffer.alloc(0), chunk.subarray(0, missing)]);
    }
  }

  onResponseEnd(): void {
    this.#settle('no_answer');
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController): void {
    controller.abort(new Error('upgrade'));
    this.#settle('bad_answer');
  }

  fail(error: unknown): void {
    this.#settle(error instanceof RefusedAddress ? error.code : failureCode(error));
  }

  get #succeeded(): boolean {
    return this.#status !== undefined && this.#status < 300;
  }

  #abort(code: string): void {
    this.#settle(code);
    this.#controller?.abort(new Error(code));
  }

  /** Once a status line has come, it is the result, even if the body fails: the receiver has answered. */
  #settle(code: string): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#resolve({
      result: this.#status ?? code,
      durationMs: Math.round(this.#clock.monotonicMs() - this.#startedMs),
      ...(this.#excerpt === undefined ? {} : { excerpt: this.#excerpt.toString('utf8') }),
      ...(this.#retryAfter === undefined ? {} : { retryAfter: this.#retryAfter }),
    });
  }
}

/** The delivery log's word for a post without an HTTP status. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|ENODATA|EAI_|ESERVFAIL|EREFUSED|ETIMEOUT|EBADRESP|ECANCELLED|EBADNAME)/, 'dns_failed'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'connect_timeout'],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/, 'connect_failed'],
  [/^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_OSSL_|EPROTO)/, 'tls_failed'],
  [/^(UND_ERR_SOCKET|ECONNRESET|EPIPE|UND_ERR_DESTROYED|UND_ERR_CLOSED)$/, 'connection_lost'],
  [/^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/, 'bad_answer'],
  [/^ANSWER_TOO_LONG$/, 'answer_too_long'],
];

export function failureCode(error: unknown): string {
  // Errors of undici's parser always have a name, but not always a code.
  const code = error instanceof Error ? String(('code' in error && error.code) || error.name) : '';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'failed';
}

/** Results without an HTTP status, in words for customers. */
const WORDS: Readonly<Record<string, string>> = {
  timeout: 'Your server did not answer in time. Answer 2xx first, then process the event.',
  dns_failed: 'The host name of the address could not be resolved. Check its DNS records.',
  connect_timeout: 'Your server could not be reached in time. Check its firewall.',
  connect_failed: 'Your server refused the connection. Check that it runs and listens on this port.',
  tls_failed: 'The certificate or the TLS settings of your server were not accepted.',
  connection_lost: 'Your server closed the connection before it answered.',
  bad_answer: 'Your server answered something that is not HTTP.',
  answer_too_long: 'Your server answered more than 16 KB before its status was complete.',
  too_many_interim_answers: 'Your server sent too many interim answers (1xx).',
  refused_address: 'The address leads to a private or reserved address. Nothing was posted.',
  refused_url: 'The address may not be used any more. Register one that begins with https://.',
  no_header: 'A secret header of the webhook cannot be read. Enter its value again.',
  no_secret: 'The secret of the webhook cannot be read. Rotate it: only the new one signs then.',
};

/** Specification, Events: "answers with HTTP 200 to acknowledge". Every 2xx counts, a redirect does not. */
export function isAcknowledged(result: number | string): boolean {
  return typeof result === 'number' && result >= 200 && result < 300;
}

export function resultWords(result: number | string): string {
  if (typeof result === 'string') return WORDS[result] ?? 'The post failed.';
  if (isAcknowledged(result)) return 'Your server acknowledged the event.';
  if (result >= 300 && result < 400) return `Your server answered ${result}, a redirect. Redirects are not followed.`;
  if (result === 410) return 'Your server answered 410 Gone, which disables the webhook.';
  return `Your server answered ${result}.`;
}
