import type { Random } from './faults.ts';

interface Planned {
  readonly kind: Kind;
  readonly path: string;
  readonly body: object;
  /** Each recipient is used by one request only. */
  readonly recipients: readonly string[];
}

type Kind = 'single' | 'bulk' | 'schedule' | 'chatapp';

export interface LoadOutcome {
  readonly accepted: ReadonlyMap<string, Kind>;
  /** Final answers other than 200. */
  readonly refused: readonly string[];
}

const BULK_MAX = 200;
/** The kind of each request is picked from these ten. */
const MIX: readonly Kind[] = [
  'single',
  'single',
  'single',
  'single',
  'single',
  'single',
  'bulk',
  'schedule',
  'chatapp',
  'chatapp',
];
/** Schedules are due this far ahead, over this time: enough for the request to be in time after a few kills. */
const SCHEDULE_FROM_S = 60;
const SCHEDULE_FOR_S = 20;

/** Requests with distinct recipients until `total` are used. They end in 900, which is no magic number. */
export function* planLoad(random: Random, total: number): Generator<Planned> {
  let used = 0;
  const numbers = (count: number): string[] =>
    Array.from({ length: Math.min(count, total - used) }, () => `91${String(++used).padStart(7, '0')}900`);
  const words = { message: 'Your order has left our warehouse.', sender: 'HARKRA', route: 'transactional' };
  while (used < total) {
    const kind = random.pick(MIX);
    const recipients = numbers(kind === 'bulk' ? 1 + random.integer(BULK_MAX) : 1);
    const [to] = recipients;
    switch (kind) {
      case 'single':
        yield { kind, path: '/v2/send', body: { to, ...words }, recipients };
        break;
      case 'bulk':
        yield { kind, path: '/v2/send-bulk', body: { to: recipients, ...words }, recipients };
        break;
      case 'schedule': {
        const at = new Date(Date.now() + (SCHEDULE_FROM_S + random.integer(SCHEDULE_FOR_S)) * 1_000).toISOString();
        yield { kind, path: '/v2/schedule', body: { to, ...words, schedule_time: at }, recipients };
        break;
      }
      case 'chatapp': {
        const body = { to, template: 'order_update', language: 'en_US', params: ['Asha', String(used)] };
        yield { kind, path: '/v2/chatapp/send', body, recipients };
        break;
      }
    }
  }
}

/** Each connection waits for `turn`, repeats a request until its answer is final, then calls `onAnswer`. */
export async function sendAll(
  client: Client,
  plan: Iterator<Planned>,
  connections: number,
  turn: () => Promise<void>,
  onAnswer: (planned: Planned) => void,
): Promise<LoadOutcome> {
  const accepted = new Map<string, Kind>();
  const refused: string[] = [];
  let requests = 0;
  const lane = async (): Promise<void> => {
    for (let next = plan.next(); next.done !== true; next = plan.next()) {
      await turn();
      const planned = next.value;
      const { kind, path, body, recipients } = planned;
      const answer = await client.persist(path, body, `chaos-${++requests}`);
      if (answer.status === 200) for (const to of recipients) accepted.set(to, kind);
      else refused.push(`${path}: ${answer.status} ${String(answer.body.code)} ${String(answer.body.detail)}`);
      onAnswer(planned);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  return { accepted, refused };
}

/** An account's API client. Each request has a deadline and is repeated with the same Idempotency-Key. */
export interface Client {
  /** The final answer (200, or a refusal other than 409, 429, 500 and 503). Rejects if there is none in time. */
  persist(path: string, body: object, key: string): Promise<Answer>;
  get(path: string): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** For one try. A connection being handed to a process that is killed is never answered. */
const ANSWER_MS = 15_000;
/** For all tries: a request with a key is undecided for 15 s after its process died; pauses add to that. */
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
