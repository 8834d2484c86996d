/** One answer of the API, as a caller sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text, parsed as JSON. If it is not an object, the walk fails. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  /** API key; without it, none is sent. */
  readonly key?: string | undefined;
  readonly body?: unknown;
  /** Headers that replace the usual ones. An undefined one is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const ANSWER_MS = 60_000;

/** A client that knows of the product nothing but its base address, and remembers what was answered. */
export class Client {
  /** What was asked and answered, such as `POST /v2/send 200`; each once. */
  readonly answered = new Set<string>();
  readonly #baseUrl: string;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** Sends a string as body unchanged, anything else as JSON. Rejects when no answer comes, or one that is not a JSON object. */
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
      // As bytes, because fetch would add a Content-Type of its own to a string.
      ...(body === undefined ? {} : { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }),
    });
    const text = await response.text();
    this.answered.add(`${method} ${path} ${response.status}`);
    const json: unknown = JSON.parse(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error(`no JSON object: ${text}`);
    return { status: response.status, headers: response.headers, text, body: { ...json } };
  }
}
