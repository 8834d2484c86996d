import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import type { FaultLog } from './faults.ts';
import type { Answer, Client, LoadOutcome } from './load.ts';
import type { Stage } from './stage.ts';

export interface Finding {
  readonly what: string;
  readonly found: number;
  /** A count above this is a bug of the product. */
  readonly allowed: number;
  /** The first few. */
  readonly examples: readonly string[];
}

interface Listed {
  readonly message_id: string;
  readonly to: string;
  readonly status: string;
}

const PAGE = 500;
const EXAMPLES = 5;
const FINAL: readonly string[] = ['delivered', 'read'];

async function* readAll<T>(client: Client, path: string): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const { body }: Answer = await client.get(
      `${path}?limit=${PAGE}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    yield* body.data as readonly T[]; // typed as the API documents it
    cursor = typeof body.next_cursor === 'string' ? body.next_cursor : undefined;
  } while (cursor !== undefined);
}

/** Accepted messages that the API does not yet show as delivered or read. */
export async function countOpen(client: Client, { accepted }: LoadOutcome): Promise<number> {
  let final = 0;
  for await (const { to, status } of readAll<Listed>(client, '/v2/messages')) {
    if (accepted.has(to) && FINAL.includes(status)) final += 1;
  }
  return accepted.size - final;
}

/** The first messages that are not yet delivered or read. */
export async function readUnfinished(client: Client, { accepted }: LoadOutcome): Promise<readonly object[]> {
  const found: object[] = [];
  for await (const { message_id: id, to, status } of readAll<Listed>(client, '/v2/messages')) {
    if (!accepted.has(to) || FINAL.includes(status)) continue;
    found.push((await client.get(`/v2/messages/${id}`)).body);
    if (found.length === EXAMPLES) break;
  }
  return found;
}

/**
 * Compares what the API, carrier, provider, receiver and ledger say about the run. Only the ledger is read from the
 * store; everything else is seen from outside the product.
 */
export async function audit(
  stage: Stage,
  client: Client,
  outcome: LoadOutcome,
  faults: FaultLog,
  backwards: readonly string[],
): Promise<readonly Finding[]> {
  return [
    finding('requests refused', outcome.refused),
    ...(await auditMessages(stage, client, outcome.accepted, faults)),
    ...(await auditEvents(stage, client)),
    finding('states that went back', backwards),
    ...(await auditCredits(stage, client, outcome.accepted)),
  ];
}

async function auditMessages(
  stage: Stage,
  client: Client,
  accepted: LoadOutcome['accepted'],
  faults: FaultLog,
): Promise<readonly Finding[]> {
  const byRecipient = new Map<string, Listed[]>();
  for await (const message of readAll<Listed>(client, '/v2/messages')) {
    byRecipient.set(message.to, [...(byRecipient.get(message.to) ?? []), message]);
  }
  const messages = [...byRecipient.values()].flat();
  const lost = [...accepted.keys()].filter((to) => !byRecipient.has(to));
  const doubled = [...byRecipient].filter(([, own]) => own.length > 1).map(([to]) => to);
  const unasked = [...byRecipient.keys()].filter((to) => !accepted.has(to));
  const unfinished = messages
    .filter(({ status }) => !FINAL.includes(status))
    .map((one) => `${one.message_id} ${one.status}`);

  const submits = timesEach([
    ...stage.smsc.messages().map(({ to }) => to),
    ...stage.provider.taken().map(({ to }) => to),
  ]);
  const never = [...accepted.keys()].filter((to) => !submits.has(to));
  const twice = [...submits].filter(([, times]) => times > 1).map(([to, times]) => `${to} ${times} times`);
  const killed =
    (faults.kills.get('smpp') ?? 0) + (faults.pauses.get('smpp') ?? 0) + (faults.kills.get('chatapp') ?? 0);

  return [
    finding('accepted and lost', lost),
    finding('accepted once, stored twice', doubled),
    finding('stored and never accepted', unasked),
    finding('not final', unfinished),
    finding('never submitted', never),
    finding(
      'submitted more than once (allowed: a window per kill or pause of its worker)',
      twice,
      killed * stage.windowSize,
    ),
  ];
}

async function auditEvents(stage: Stage, client: Client): Promise<readonly Finding[]> {
  const posts = stage.receiver.received();
  const posted = new Set(posts.map(({ id }) => id));
  const events: string[] = [];
  for await (const { event_id: id } of readAll<{ event_id: string }>(client, '/v2/events')) events.push(id);
  const known = new Set(events);
  return [
    finding(
      'events that the receiver did not get',
      events.filter((id) => !posted.has(id)),
    ),
    finding(
      'posts without an event',
      [...posted].filter((id) => !known.has(id)),
    ),
    finding(
      'events listed twice',
      [...timesEach(events)].filter(([, times]) => times > 1).map(([id]) => id),
    ),
    finding(
      'signatures that do not fit',
      posts.filter(({ signature }) => signature !== 'valid').map(({ id }) => id),
    ),
  ];
}

async function auditCredits(
  stage: Stage,
  client: Client,
  accepted: LoadOutcome['accepted'],
): Promise<readonly Finding[]> {
  const { problems } = await verifyLedger(stage.db, stage.account);
  const spent = stage.credits - Number((await client.get('/v2/balance')).body.balance);
  const price = [...accepted.values()].reduce((sum, kind) => sum + (kind === 'chatapp' ? 2 : 1), 0);
  return [
    finding('faults of the ledger', problems),
    finding('credits that are wrong', spent === price ? [] : [`${spent} spent for ${price}`]),
  ];
}

function finding(what: string, found: readonly string[], allowed = 0): Finding {
  return { what, found: found.length, allowed, examples: found.slice(0, EXAMPLES) };
}

function timesEach(names: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}
