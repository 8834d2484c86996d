/**
 * A client of the API, for one account. It is careful: each request has a deadline and is repeated with the same Idempotency-Key.
 */
export interface Client {
  /** The final answer (200, or a refusal other than 409, 429, 500 and 503). Rejects when there is none in time. */
  persist(path: string, body: object, key: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Time for one try. When a process is killed, the connections that were just being handed to it are never answered. */
const ANSWER_MS = 15_000;
/**
 * Time for all tries of a request. If the process that has a request with a key dies, the request is undecided for 15 s.
 * Pauses of processes add to that.
 */
const PATIENCE_MS = 240_000;
const AGAIN_MS = 300;
const AGAIN = [409, 429, 500, 503];

export function createClient(url: string, key: string): Client {
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(url + path, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
    return { status: response.status, body: (await response.json()) as Answer['body'] }; // every answer is one JSON object
  };
  const persist = async (path: string, init: RequestInit): Promise<Answer> => {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await ask(path, init).catch((error: unknown) => String(error));
      if (typeof answer !== 'string' && !AGAIN.includes(answer.status)) return answer;
      if (performance.now() > deadline) throw new Error(`${path} has no answer: ${JSON.stringify(answer)}`);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  };
  const authorization = `Bearer ${key}`;
  return {
    persist: (path, body, idempotencyKey) =>
      persist(path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(body),
      }),
    get: (path) => persist(path, { headers: { authorization } }),
  };
}
