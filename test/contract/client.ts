/** One answer of the API, as a caller sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the text; an object, or the walk fails. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  /** API key; none is sent without it. */
  readonly key?: string | undefined;
  readonly body?: unknown;
  /** Replace or, when undefined, take away the usual ones. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const ANSWER_MS = 60_000;

/** A client that knows of the product nothing but its base address, and remembers what was answered. */
export class Client {
  /** `POST /v2/send 200`, each once. */
  readonly answered = new Set<string>();
  readonly #baseUrl: string;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** A string as the body is sent as it is, anything else as JSON. Rejects when there is no answer, or one that is no JSON object. */
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
      // Bytes: for a string fetch would make up a Content-Type.
      ...(body === undefined ? {} : { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }),
    });
    const text = await response.text();
    this.answered.add(`${method} ${path} ${response.status}`);
    const json: unknown = JSON.parse(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error(`no JSON object: ${text}`);
    return { status: response.status, headers: response.headers, text, body: { ...json } };
  }
}
