import type { Problem } from './index.js';

export interface Options {
  /** The gateway: `https://api.example.com`. */
  readonly url: string;
  /** `hk_live_…`. Take it from the environment; do not store it in a file. */
  readonly key: string;
  /** How often a failed request is repeated. Default 3. */
  readonly retries?: number;
  /** Milliseconds for one attempt; for a file, until it begins. Default 60,000. */
  readonly timeoutMs?: number;
  /** The longest pause in milliseconds (default 60,000). A longer `Retry-After` throws the error at once. */
  readonly maxWaitMs?: number;
  /** Replaces the global `fetch`, for a proxy or a test. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Your own key for this act: calls with the same key do it once. Default: a key for this call and its retries. */
  readonly idempotencyKey?: string;
  /** Aborts the call and the pauses between its attempts. */
  readonly signal?: AbortSignal;
}

/** Every error of a call, except the reason of an aborted `signal`. */
export class HarkaraError extends Error {
  override readonly name: string = 'HarkaraError';
}

/** The gateway refused the request. */
export class ProblemError extends HarkaraError {
  override readonly name = 'ProblemError';
  /** The answer. Some problems have more members: `problem.quota`, `problem.message_id`. */
  readonly problem: Problem & Readonly<Record<string, unknown>>;
  readonly status: number;
  /** For programs: `insufficient_credits`. */
  readonly code: Problem['code'];
  /** All errors in the request's fields. */
  readonly errors: Problem['errors'];
  /** For your service provider's support. */
  readonly requestId: string;
  /** Whether the same request can succeed later. */
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(problem: ProblemError['problem'], retryAfterSeconds: number | undefined) {
    // A single field error is already in the problem's own detail.
    const further = problem.errors.filter(({ detail }) => !problem.detail.includes(detail));
    const fields = further.map(({ field, detail }) => ` ${field}: ${detail}`).join('');
    super(`${problem.status} ${problem.code}: ${problem.detail}${fields}`);
    this.problem = problem;
    this.status = problem.status;
    this.code = problem.code;
    this.errors = problem.errors;
    this.requestId = problem.request_id;
    this.retryable = problem.retryable;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** No answer: unknown whether the request was done. Call again with the same `idempotencyKey`. */
export class ConnectionError extends HarkaraError {
  override readonly name = 'ConnectionError';
  /** The status of a proxy's answer. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, answered?: Response, cause?: unknown) {
    super(message, { cause });
    this.status = answered?.status;
    this.retryAfterSeconds = answered && retryAfter(answered);
  }
}

interface Asked {
  readonly query?: object;
  readonly body?: object;
  /** Takes an Idempotency-Key. */
  readonly once?: boolean;
}

interface Page {
  readonly next_cursor: string | null;
}

const FIRST_PAUSE_MS = 500;

/** Sends requests, and repeats failed ones. */
export class Http {
  readonly #options: Required<Options>;

  constructor(options: Options) {
    const defaults = { retries: 3, timeoutMs: 60_000, maxWaitMs: 60_000, fetch: globalThis.fetch };
    this.#options = { ...defaults, ...options, url: options.url.replace(/\/+$/, '') };
  }

  json<Answer>(method: string, path: string, asked: Asked, options?: CallOptions): Promise<Answer> {
    return this.#send(method, path, asked, options, (response) => response.json() as Promise<Answer>);
  }

  /** The body is not read yet: handle a connection that breaks off while you read it. */
  file(method: string, path: string, asked: Asked, options?: CallOptions): Promise<Response> {
    return this.#send(method, path, asked, options, async (response) => response);
  }

  pages<Whole extends object, Entry>(
    method: string,
    path: string,
    { query }: Asked,
    options: CallOptions | undefined,
    entries: string,
  ): Pages<Whole, Entry> {
    const read = (cursor?: string) =>
      this.json<Whole & Page>(method, path, { query: { ...query, ...(cursor !== undefined && { cursor }) } }, options);
    return new Pages(read, entries);
  }

  async #send<Answer>(
    method: string,
    path: string,
    { query = {}, body, once = false }: Asked,
    { idempotencyKey, signal }: CallOptions = {},
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const { url, key, retries, timeoutMs, maxWaitMs, fetch } = this.#options;
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search =
      given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
    const request = {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(once && { 'Idempotency-Key': idempotencyKey ?? crypto.randomUUID() }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'error',
    } as const;
    for (let attempt = 0; ; attempt += 1) {
      const timeout = new AbortController();
      const timer = setTimeout(() => timeout.abort(), timeoutMs);
      const ends = signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
      let failure: ProblemError | ConnectionError;
      try {
        const response = await fetch(url + path + search, { ...request, signal: ends });
        if (response.ok) return await read(response);
        failure = await failureOf(response);
      } catch (error) {
        if (signal?.aborted) throw error;
        const why = timeout.signal.aborted ? `no answer within ${timeoutMs} ms` : wordsOf(error);
        failure = new ConnectionError(`${method} ${path}: ${why}`, undefined, error);
      } finally {
        clearTimeout(timer); // Reading a file has no time limit.
      }
      const again =
        failure instanceof ProblemError ? failure.retryable : isLost(failure) && (once || method !== 'POST');
      const pauseMs = pauseOf(failure.retryAfterSeconds, attempt);
      if (!again || attempt >= retries || pauseMs > maxWaitMs) throw failure;
      await pause(pauseMs, signal);
    }
  }
}

/** The entries of a list, page after page: `for await (const message of harkara.messages.list()) …`. */
export class Pages<Whole extends object, Entry> implements AsyncIterable<Entry> {
  readonly #read: (cursor?: string) => Promise<Whole & Page>;
  readonly #entries: string;

  constructor(read: (cursor?: string) => Promise<Whole & Page>, entries: string) {
    this.#read = read;
    this.#entries = entries;
  }

  /** One page; the first, unless the query has a `cursor`. */
  page(): Promise<Whole> {
    return this.#read();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, undefined> {
    for (let cursor: string | undefined; ; ) {
      const page = await this.#read(cursor);
      yield* Reflect.get(page, this.#entries) as Entry[];
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }
}

async function failureOf(response: Response): Promise<ProblemError | ConnectionError> {
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('application/problem+json')) {
    return new ProblemError(JSON.parse(text), retryAfter(response));
  }
  return new ConnectionError(
    `${response.status} ${response.statusText}, not from the gateway: ${text.slice(0, 200)}`,
    response,
  );
}

/** No answer, or a proxy's error for an unreachable or busy gateway. */
function isLost({ status }: ConnectionError): boolean {
  return status === undefined || [429, 502, 503, 504].includes(status);
}

function retryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : undefined;
}

/** `Retry-After`, or exponential backoff with a random half, so that clients spread out. */
function pauseOf(retryAfterSeconds: number | undefined, attempt: number): number {
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1_000;
  return FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2);
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function wordsOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
