import { createHash, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { asPosted, secretKey, signature } from '../../shared/events/webhooks/target.ts';

export interface Asked {
  /** The user's program. */
  readonly to: URL;
  readonly gateway: URL;
  readonly key: string;
  readonly tell: (line: string) => void;
  readonly stop: AbortSignal;
}

interface Event {
  readonly event_id: string;
  readonly event: string;
  readonly message_id: string;
  readonly timestamp: string;
}

interface Page {
  readonly data: readonly Event[];
  readonly next_cursor: string | null;
}

const PAUSE_MS = 1_000;
const PAGE = 100;
/** An event may be stored some seconds after its time, by another clock. */
const LATE_MS = 30_000;
const POST_MS = 15_000;

/**
 * Posts new events until it is stopped, each once, oldest first. A failed post is reported but not retried: a developer
 * sends again. Throws what the gateway refuses; waits while the gateway cannot be reached.
 */
export async function listen(asked: Asked, only: readonly string[], eventsPerPost = 1): Promise<void> {
  const { tell, to, gateway, stop } = asked;
  const begin = Date.now();
  const seen = new Map<string, number>();
  let reachable = true;
  await read(asked, begin);
  tell(`Events of this account at ${gateway.origin} go to ${to.href}, signed with\n\n  ${secretOf(asked)}\n`);
  while (!stop.aborted) {
    const events = await read(asked, Math.max(begin, Date.now() - LATE_MS)).catch((error: unknown) => {
      if (error instanceof Refused) throw error;
      if (reachable) tell(`The gateway cannot be reached: ${wordsOf(error)}. Waiting for it.`);
      return undefined;
    });
    reachable = events !== undefined;
    const fresh = (events ?? []).filter(
      ({ event_id, event }) => !seen.has(event_id) && (only.length === 0 || only.includes(event)),
    );
    for (let first = 0; first < fresh.length; first += eventsPerPost) {
      const some = fresh.slice(first, first + eventsPerPost);
      for (const { event_id } of some) seen.set(event_id, Date.now());
      await post(asked, some, eventsPerPost);
    }
    for (const [id, at] of seen) if (at < Date.now() - 4 * LATE_MS) seen.delete(id);
    await setTimeout(PAUSE_MS, undefined, { signal: stop }).catch(() => {});
  }
}

/** Posts the gateway document's example of an event. Throws if there is no such event. */
export async function trigger(asked: Asked, name: string): Promise<void> {
  const document = await get<{ webhooks: Record<string, Described> }>(asked, '/openapi.json');
  const described = document.webhooks[name];
  if (described === undefined) {
    throw new Error(`There is no event ${name}. There are: ${Object.keys(document.webhooks).join(', ')}.`);
  }
  const content = described.post.requestBody.content['application/json'];
  const body = content.example ?? Object.values(content.examples ?? {})[0]?.value ?? {};
  const example = { ...body, timestamp: new Date().toISOString(), event_id: `evt_${randomBytes(13).toString('hex')}` };
  asked.tell(`Signed with ${secretOf(asked)}`);
  await post(asked, [{ message_id: '', ...example, event: name }], 1);
}

interface Described {
  readonly post: {
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': {
          readonly example?: object;
          readonly examples?: Readonly<Record<string, { readonly value: object }>>;
        };
      };
    };
  };
}

/** Constant for a key, so that it can stay in the program's settings. Whoever has the key may know it. */
function secretOf({ key }: Asked): string {
  return `whsec_${createHash('sha256').update(`listen ${key}`).digest('base64')}`;
}

/** Oldest first. */
async function read(asked: Asked, sinceMs: number): Promise<readonly Event[]> {
  const events: Event[] = [];
  const query = new URLSearchParams({ since: new Date(sinceMs).toISOString(), limit: String(PAGE) });
  for (;;) {
    const { data, next_cursor } = await get<Page>(asked, `/v2/events?${query}`);
    events.push(...data);
    if (next_cursor === null) return events.reverse();
    query.set('cursor', next_cursor);
  }
}

/** A refusal that a retry would not change. */
class Refused extends Error {
  readonly code = 'refused';
}

async function get<T>({ gateway, key, stop }: Asked, path: string): Promise<T> {
  const response = await fetch(new URL(path, gateway), { headers: { authorization: `Bearer ${key}` }, signal: stop });
  if (response.ok) return (await response.json()) as T; // as its document says
  const { detail = response.statusText } = (await response.json().catch(() => ({}))) as { detail?: string };
  const words = `${gateway.origin} answers ${response.status}: ${detail}`;
  throw response.status === 429 || response.status >= 500 ? new Error(words) : new Refused(words);
}

/** The form follows `events_per_post`: one event whose id is in a header, or an array. */
async function post(
  { to, tell, stop, ...asked }: Asked,
  events: readonly Event[],
  eventsPerPost: number,
): Promise<void> {
  const [first, ...others] = events.map(({ event_id, ...event }) => ({
    eventId: event_id,
    body: JSON.stringify(event),
  }));
  if (first === undefined) return;
  const { eventId: id, body: text } = asPosted({ eventsPerPost }, [first, ...others]);
  const body = Buffer.from(text);
  const seconds = Math.floor(Date.now() / 1_000);
  const key = secretKey(secretOf({ to, tell, stop, ...asked }));
  const began = performance.now();
  const answered = await fetch(to, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signature([key], id, seconds, body),
    },
    body,
    signal: AbortSignal.any([stop, AbortSignal.timeout(POST_MS)]),
  }).then(
    async (response) => {
      await response.body?.cancel();
      return String(response.status);
    },
    (error: unknown) => wordsOf(error),
  );
  const tookMs = Math.round(performance.now() - began);
  for (const { timestamp, event, message_id } of events)
    tell(`${timestamp}  ${event.padEnd(24)} ${message_id}  → ${answered} (${tookMs} ms)`);
}

function wordsOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return ('code' in cause && typeof cause.code === 'string' && cause.code) || cause.message;
}
