import type { Client } from './client.ts';
import type { Random } from './random.ts';

/** One request of the load. */
export interface Planned {
  readonly kind: Kind;
  readonly path: string;
  readonly body: object;
  /** Each recipient is used by one request only. */
  readonly recipients: readonly string[];
}

export type Kind = 'single' | 'bulk' | 'schedule' | 'chatapp';

export interface LoadOutcome {
  /** Accepted recipients, with the kind of their request. */
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
/**
 * Schedules are booked for a time at least `SCHEDULE_FROM_S` seconds ahead, spread over `SCHEDULE_FOR_S` seconds. That is far
 * enough ahead for a request to be in time even after a few kills.
 */
const SCHEDULE_FROM_S = 60;
const SCHEDULE_FOR_S = 20;

/** Requests until all recipients are used, each to its own numbers. They end in 900, which is no magic number. */
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

/**
 * Sends all requests over the given number of connections. Each connection waits for `turn` before a request, repeats the request
 * until its answer is final, then calls `onAnswer`.
 */
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
