export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON. The walk fails if it is not an object. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  /** API key; without it, none is sent. */
  readonly key?: string | undefined;
  readonly body?: unknown;
  /** Replace the usual headers; an undefined one is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const ANSWER_MS = 60_000;

/** A client that knows only the product's base address, and remembers what was answered. */
export class Client {
  /** Requests with their status, such as `POST /v2/send 200`, each once. */
  readonly answered = new Set<string>();
  readonly #baseUrl: string;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** Sends a string body unchanged, anything else as JSON. Rejects unless the answer is a JSON object. */
  async call({ method, path, key, body, headers: given = {} }: Call): Promise<Answer> {
    const headers = {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...given,
    };
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      signal: AbortSignal.timeout(ANSWER_MS),
      // As bytes: fetch would add its own Content-Type to a string.
      ...(body === undefined ? {} : { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }),
    });
    const text = await response.text();
    this.answered.add(`${method} ${path} ${response.status}`);
    const json: unknown = JSON.parse(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error(`no JSON object: ${text}`);
    return { status: response.status, headers: response.headers, text, body: { ...json } };
  }
}
