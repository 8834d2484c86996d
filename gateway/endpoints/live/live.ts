import type { Request } from 'express';
import type { Db } from 'mongodb';
import { listNewestReplays } from '../../../shared/events/webhooks/replay.ts';
import { HOUR_MS, readHours } from '../../../shared/messages/statistics.ts';
import { readBalance } from '../../../shared/money/accounts/store.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, liveAccountOf } from '../../../shared/platform/runtime/ids.ts';
import { pageAccount, pageMode, pageUser, refusesOther } from '../../access/page-query.ts';
import { endpoint, type Gateway, perProcess } from '../../api/endpoint.ts';
import { beginStream, sendProblem } from '../../http/answer.ts';
import { type Reply, type Requester, requesterOf } from '../../http/context.ts';
import { Fault, optional, string } from '../../http/fields/field.ts';
import type { ProblemSlug } from '../../http/problem.ts';
import { readCarriers } from '../carriers/carriers.ts';
import { countChatTemplates } from '../chat-templates/templates.ts';
import { listMessages } from '../messages/message-list.ts';
import { messageRecord } from '../messages/messages.ts';
import { balanceRecord } from '../sms/account.ts';
import { readOverview } from '../traffic/overview.ts';
import { replayRecord } from '../webhooks/replays.ts';
import { LiveHub, LiveStream, type Reading } from './stream.ts';

const NEWEST = 20;

/** What `GET /v2/account/stream` can tell. New kinds also need a sentence in `accountStream`. */
export const ACCOUNT_SOURCES: readonly AccountSource[] = [
  {
    name: 'balance',
    read: async ({ db }, account) => balanceRecord(await readBalance(db, account)),
  },
  {
    name: 'messages',
    read: async ({ db }, account) => {
      const { messages } = await listMessages(db, account, {}, undefined, NEWEST);
      return { data: messages.map((message) => messageRecord(message)) };
    },
  },
  {
    // The running hour and the one before: the page of statistics reloads when this changes.
    name: 'statistics',
    read: async ({ db, clock }, account) => {
      const hours = await readHours(db, account, new Date(clock.now().getTime() - HOUR_MS));
      return {
        hours: hours.map(({ _id, states, credits }) => ({ at: _id.slice(account.length + 1), states, credits })),
      };
    },
  },
  {
    name: 'inbox',
    read: async ({ db }, account) => {
      const { messages } = await listMessages(db, account, { direction: 'in' }, undefined, 1);
      return { message_id: messages[0]?._id ?? null };
    },
  },
  {
    name: 'replays',
    read: async ({ db }, account) => ({
      data: (await listNewestReplays(db, liveAccountOf(account), NEWEST)).map(replayRecord),
    }),
  },
  { name: 'chat_templates', read: ({ db }, account) => countChatTemplates(db, liveAccountOf(account)) },
];

const OPERATOR_SOURCES: readonly OperatorSource[] = [
  { name: 'overview', read: ({ db, clock }) => readOverview(db, clock) },
  { name: 'carriers', read: async ({ db, clock }) => ({ carriers: await readCarriers(db, clock.now()) }) },
];

interface AccountSource {
  /** The event's name for clients: `balance`. */
  readonly name: string;
  /**
   * The whole current value, small and by an index: read every two seconds while watched. Only changed JSON is sent, so
   * it must be deterministic, without "now" and ages.
   */
  read(deps: SourceDeps, account: AccountId): Promise<object>;
}

interface SourceDeps {
  readonly db: Db;
  readonly clock: Clock;
}

interface OperatorSource extends Omit<AccountSource, 'read'> {
  read(deps: SourceDeps): Promise<object>;
}

/** How often a stream sends a sign of life and its caller is checked again. Common proxies wait for 60 s. */
const BEAT_MS = 15_000;
/** Seconds. */
const RETRY_AFTER = ['Retry-After', '30'] as const;

/** For a key or a signed-in user: some tabs, and those that browsers have not closed yet. */
const PER_CALLER_MAX = 12;
const PER_ACCOUNT_MAX = 100;
/** Each stream takes a connection and some 20 KB. */
const PROCESS_MAX = 2_000;

/** One per process: all streams share one hub. */
class Live {
  readonly #gateway: Gateway;
  readonly #hub: LiveHub;
  /** All end when the process begins to stop. */
  readonly #open = new Map<LiveStream, Requester>();

  constructor(gateway: Gateway) {
    this.#gateway = gateway;
    this.#hub = new LiveHub(gateway);
    gateway.stopping.addEventListener('abort', () => {
      for (const stream of this.#open.keys()) stream.end();
    });
  }

  /** `user`: only this user's session may listen. */
  open(res: Reply, readings: readonly Reading[], user: string | undefined): void {
    if (refusesOther(res, user)) return;
    if (!this.#hasRoomFor(requesterOf(res))) {
      sendProblem(res, 'too_many_streams', { headers: RETRY_AFTER });
      return;
    }
    // If the caller left during authentication, `close` will not come again.
    if (res.closed) return;
    // Without the first header nginx buffers events.
    beginStream(res, 'text/event-stream; charset=utf-8', ['X-Accel-Buffering', 'no', 'Connection', 'close']);
    if (res.req.method === 'HEAD') res.end();
    else this.#begin(res, readings);
  }

  #hasRoomFor({ account, who }: Requester): boolean {
    const open = [...this.#open.values()];
    const ofCaller = open.filter((one) => one.who.id === who.id);
    const ofAccount = open.filter((one) => account !== undefined && one.account?._id === account._id);
    return open.length < PROCESS_MAX && ofCaller.length < PER_CALLER_MAX && ofAccount.length < PER_ACCOUNT_MAX;
  }

  #begin(res: Reply, readings: readonly Reading[]): void {
    const requester = requesterOf(res);
    const leave: (() => void)[] = [];
    const stream = new LiveStream(res, () => {
      clearInterval(timer);
      for (const end of leave) end();
      this.#open.delete(stream);
    });
    const timer = setInterval(() => void this.#beat(res.req, requester, stream), this.#gateway.beatMs ?? BEAT_MS);
    this.#open.set(stream, requester);
    if (this.#gateway.stopping.aborted) stream.end();
    for (const reading of readings) leave.push(this.#hub.watch(reading, (name, json) => stream.tell(name, json)));
  }

  /**
   * Ends a stream whose caller may no longer listen (revoked key, ended session). If the store fails, the stream goes
   * on, without news. Never rejects.
   */
  async #beat(req: Request, requester: Requester, stream: LiveStream): Promise<void> {
    const problem = await this.#lost(req, requester).catch(() => undefined);
    if (problem === undefined) stream.beat();
    else stream.end(problem);
  }

  /** A session is only looked at: an open page must not keep it alive. */
  async #lost(req: Request, { who, account }: Requester): Promise<ProblemSlug | undefined> {
    const { sessions, identify } = this.#gateway;
    const now = who.kind === 'user' ? await sessions.scopesOf(who.session) : await identify(req);
    if (typeof now === 'string') return now;
    // Operators who look at an account may read it (access/looking.ts).
    const has = now.scopes.includes('admin:look') ? [...now.scopes, 'read'] : now.scopes;
    return has.includes(account === undefined ? 'admin:read' : 'read') ? undefined : 'scope_missing';
  }
}

const liveOf = perProcess((gateway) => new Live(gateway));

export const accountStream = endpoint({
  id: 'accountStream',
  method: 'get',
  path: '/v2/account/stream',
  tag: 'Account',
  summary: 'Live numbers of the account',
  description:
    'Extension. A stream of server-sent events that stays open. Each event is named, and its `data` is a JSON object with the whole current value: it comes at once, and again after it has changed. Values are read every two seconds, once for all who listen. A comment line comes every 15 seconds. The event `end` with the `code` of a problem says that the key or the session may not listen any more. When the stream ends without it, open it again after three seconds. A key or a user can have 12 streams open, an account 100.',
  scopes: ['read'],
  test: 'apart',
  query: {
    events: eventsOf(
      ACCOUNT_SOURCES,
      'Which events to send, separated by commas; without it all. `balance`: the answer of `GET /v2/balance`. `messages`: `data` has the 20 newest messages, as `GET /v2/messages` shows them. `statistics`: `hours` has the states of this hour and the one before, as counted last. `inbox`: `message_id` is the newest message that a customer wrote, or null. `replays`: `data` has the 20 newest replays of webhooks, with their progress. `chat_templates`: `states` has the number of chat-app templates in each state, `waiting` how many requests are yet to be told to the provider.',
      'balance,inbox',
    ),
    user: pageUser('stream'),
    account: pageAccount(),
    mode: pageMode(),
  },
  problems: ['too_many_streams'],
  openapi: streamOf(
    'retry: 3000\n\nevent: balance\ndata: {"balance":4821,"currency":"INR","expiry_date":"2027-06-30"}\n\nevent: inbox\ndata: {"message_id":null}\n\n:\n\n',
  ),
  async stream(gateway, { caller, query: { events = ACCOUNT_SOURCES, user } }, res) {
    const account = caller.account._id;
    const readings = events.map(({ name, read }) => ({
      name,
      key: `${name} ${account}`,
      read: () => read(gateway, account),
    }));
    liveOf(gateway).open(res, readings, user);
  },
});

export const adminStream = endpoint({
  id: 'adminStream',
  method: 'get',
  path: '/v2/admin/stream',
  tag: 'Operators',
  summary: 'Live numbers of the operators',
  description:
    'Extension. As `GET /v2/account/stream`, for operators. Events: `overview` (as `GET /v2/admin/overview`), `carriers` (as `GET /v2/admin/carriers`).',
  scopes: ['admin:read'],
  query: {
    events: eventsOf(OPERATOR_SOURCES, 'Which events to send, separated by commas; without it all.', 'carriers'),
    user: pageUser('stream'),
  },
  problems: ['too_many_streams'],
  openapi: streamOf('retry: 3000\n\n:\n\n'),
  async stream(gateway, { query: { events = OPERATOR_SOURCES, user } }, res) {
    const readings = events.map(({ name, read }) => ({ name, key: name, read: () => read(gateway) }));
    liveOf(gateway).open(res, readings, user);
  },
});

/** `events=balance,messages`. */
function eventsOf<Source extends { readonly name: string }>(
  sources: readonly Source[],
  description: string,
  example: string,
) {
  const all = sources.map(({ name }) => name).join(', ');
  return optional(
    string({ description, example }, (events) => {
      const names = [...new Set(events.split(','))];
      const found = names.flatMap((name) => sources.find((source) => source.name === name) ?? []);
      return found.length === names.length
        ? found
        : new Fault('invalid_value', `It must be a list of these, with commas: ${all}.`);
    }),
  );
}

function streamOf(value: string): object {
  const content = { 'text/event-stream': { schema: { type: 'string' }, examples: { stream: { value } } } };
  return { responses: { 200: { description: 'The stream, which does not end by itself.', content } } };
}
