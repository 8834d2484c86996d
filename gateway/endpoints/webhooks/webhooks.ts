import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { z } from 'zod';
import { EVENT_CHANNELS, EVENT_NAMES, EVENTS, eventsOf } from '../../../shared/events/catalogue.ts';
import { SUBSCRIPTIONS_FRESH_MS } from '../../../shared/events/webhooks/announce.ts';
import { type DeliveryAttempt, deliveriesOf, type Stored } from '../../../shared/events/webhooks/delivery.ts';
import {
  disabledWords,
  ENDPOINTS_PER_ACCOUNT,
  type EndpointDocument,
  type EndpointSecret,
} from '../../../shared/events/webhooks/endpoint.ts';
import {
  type CreatedEndpoint,
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  findEndpointId,
  findEndpoints,
  findOwnEndpoint,
  listEndpoints,
  type NewEndpoint,
  newSecret,
  removeEndpoint,
  rotateSecret,
  setEvents,
  setOptions,
} from '../../../shared/events/webhooks/endpoint-store.ts';
import { resultWords } from '../../../shared/events/webhooks/post.ts';
import { AllPlacesTaken } from '../../../shared/platform/mongo/places.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type EndpointId, newId, type RequestId } from '../../../shared/platform/runtime/ids.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, success, text, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Caller } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, list, optional, required } from '../../http/fields/field.ts';
import { address, invalidUrlRequest } from '../../http/fields/public-url.ts';
import { pageOf } from '../../http/fields/query.ts';
import { type Given, request } from '../../http/fields/request.ts';
import { type Accepted, type Refused, refusedLate } from '../../http/idempotency/action.ts';
import { checkOptions, givenOptions, OPTION_FIELDS, OPTION_SHAPE, optionRecord } from './options.ts';

/** The URLs that an account's events are posted to. What was posted: deliveries.ts. */

type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'config'>;

export const WebhookId = text(undefined, { pattern: '^whk_[0-9a-f]{26}$', example: 'whk_3fa85f6457174562b3fc2c963f' });
export const IN_PATH = { webhook_id: WebhookId.describe('Id of the webhook, from the list.') };
const Events = z.array(z.enum(EVENT_NAMES)).meta({ example: ['message.delivered', 'message.failed'] });
const Time = text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' });
export const PostResult = z.union([whole(), text()]).meta({
  description: 'HTTP status of the answer, or a word for why there was none, such as `timeout`.',
  example: 500,
});

export const WebhookAttempt = named('WebhookAttempt', 'One post.', {
  at: text(undefined, { format: 'date-time', example: '2026-11-22T14:02:00+00:00' }),
  result: PostResult,
  reason: text('What `result` means.', { example: 'Your server answered 500.' }),
  duration_ms: whole(undefined, { example: 84 }),
});

const Webhook = named('Webhook', {
  webhook_id: WebhookId,
  channel: z.enum(EVENT_CHANNELS).meta({ description: 'Whose events are posted.' }),
  url: text('Where events are posted to.', { format: 'uri', example: 'https://example.com/hooks/sms' }),
  events: Events,
  ...OPTION_SHAPE,
  state: z.enum(['active', 'disabled']).meta({ description: '`disabled`: nothing is posted.' }),
  disabled_reason: text('Why it is disabled, in words.').nullable(),
  failing_since: text(
    'Since when every post has failed. Null: the last one was acknowledged. After five days the webhook is disabled.',
    { format: 'date-time' },
  ).nullable(),
  last_failure: WebhookAttempt.nullable().meta({ description: 'The newest failed post while it fails.' }),
  old_secret_until: text('After a rotation: until when posts have the old signature too.', {
    format: 'date-time',
  }).nullable(),
  created_at: Time,
});

const CreatedWebhook = success('CreatedWebhook', {
  ...Webhook.shape,
  secret: text('Verifies the signatures of posts (Standard Webhooks). In this answer only.', {
    pattern: '^whsec_',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  }).optional(),
});

export const listWebhooks = endpoint({
  id: 'listWebhooks',
  call: 'webhooks.list',
  method: 'get',
  path: '/v2/account/webhooks',
  tag: 'Account',
  summary: 'Webhooks',
  description: 'Extension. The webhooks of all channels, oldest first, with their health. There are ten at most.',
  scopes: ['read', 'manage'],
  reads: 1,
  answer: pageShape('WebhookPage', Webhook, 'All webhooks, oldest first.'),
  async handle(deps, { caller }) {
    const found = await listEndpoints(deps.db, caller.account._id);
    return pageOf('webhooks', await Promise.all(found.map((one) => webhookRecord(deps, one))), undefined);
  },
});

const OfferedEvent = named('OfferedEvent', 'A kind of event that a webhook may subscribe to.', {
  event: z.enum(EVENT_NAMES).meta({ example: 'message.delivered' }),
  channels: z.array(z.enum(EVENT_CHANNELS)).meta({ description: 'Whose webhooks may have it.', example: ['sms'] }),
  when: text('When it happens.', { example: 'The message arrived.' }),
});

export const webhookEvents = endpoint({
  id: 'webhookEvents',
  call: 'webhooks.events',
  method: 'get',
  path: '/v2/account/webhook-events',
  tag: 'Account',
  summary: 'Events that webhooks may have',
  description: 'Extension. All of them, by channel.',
  scopes: ['read', 'manage'],
  test: 'same',
  answer: pageShape('OfferedEventPage', OfferedEvent),
  handle: () => pageOf('events', OFFERED, undefined),
});

const OFFERED: readonly Shown<typeof OfferedEvent>[] = EVENT_NAMES.map((event) => {
  const { channels, when } = EVENTS[event];
  return { event, channels, when };
});

const FIELDS = {
  channel: required(choice(EVENT_CHANNELS, 'Whose events are posted. `account`: what happens to the account itself.')),
  url: required(address('Where events are posted to: https, a public address.')),
  events: optional(
    list(choice(EVENT_NAMES), {
      description: 'The events to post. Without it: all events of the channel.',
      minItems: 1,
    }),
  ),
  ...OPTION_FIELDS,
};

function ofChannel(
  { channel, events, ...options }: Given<typeof FIELDS>,
  _has: unknown,
  problems: FieldProblems,
): void {
  if (channel === undefined) return;
  if (events !== undefined) checkEvents(channel, events, problems);
  checkOptions(channel, options, undefined, problems);
}

/** Like `ops webhook create` and POST /v2/chatapp/webhook. */
export const createWebhook = endpoint({
  id: 'createWebhook',
  call: 'webhooks.create',
  method: 'post',
  path: '/v2/account/webhooks',
  tag: 'Account',
  summary: 'Register a webhook for a channel',
  description:
    'Extension. An address that the channel has already keeps its `webhook_id` and secret, takes the new events and what else is given, and is enabled. The secret of a new one is shown this once. The answer takes half a second: from then on every event is posted.',
  scopes: ['manage'],
  confirmed: true,
  body: request(FIELDS, [], [ofChannel]),
  ownProblems: true,
  answer: CreatedWebhook,
  problems: ['url_not_allowed', 'too_many_webhooks'],
  examples: {
    body: {
      sms: { channel: 'sms', url: 'https://example.com/hooks/sms' },
      own: {
        channel: 'sms',
        url: 'https://example.com/hooks/billing',
        events: ['message.delivered', 'message.failed'],
        headers: [{ name: 'Authorization', value: 'Bearer 7f3ac1', secret: true }],
        retry_seconds: [10, 60, 600],
        filter: { sender: ['HARKRA'], reference_prefix: ['order-'] },
      },
      picked: { channel: 'chatapp', url: 'https://example.com/hooks/chat', events: ['message.received'] },
    },
  },
  // The id derives from the URL. A new webhook also stores this request id, by which `recover` finds it.
  newId: ({ clock }) => newId('req', clock.now().getTime()),
  action: (deps) => ({
    async act(call, { id, payBy }) {
      const { given, problems } = call.read;
      const account = call.caller.account._id;
      if (given.url !== undefined && deps.webhookUrl.form(account, given.url, 'url', problems)) {
        await deps.webhookUrl.host(account, given.url, 'url', problems);
      }
      if (problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
      const late = refusedLate(deps.clock, payBy);
      if (late !== undefined) return late;
      const { channel, url, events = eventsOf(channel) } = call.body;
      const options = givenOptions(call.body);
      const made = await registerEndpoint(deps, call.caller, {
        ...{ account, channel, url, events, registration: id },
        ...(options !== undefined && { options }),
      });
      if ('kind' in made) return made;
      return createdAnswer(deps, made.endpoint, made.created ? made.secret : undefined);
    },
    /** Only a request that created a webhook needs its old answer. Any other is done again. */
    async recover(account, id) {
      const found = (await listEndpoints(deps.db, account)).find(({ registration }) => registration === id);
      const [secret] = found?.secrets ?? [];
      if (found === undefined || secret === undefined) return undefined;
      return createdAnswer(deps, found, deps.box.open(secret.sealed, ['endpoints', found._id, 'secrets.sealed']));
    },
  }),
});

/**
 * A known URL keeps its id and secret, takes the new events and is active again. Resolves half a second later, when
 * every process knows the URL, so that no event misses it.
 */
export async function registerEndpoint(
  { db, clock, box, config }: Pick<GatewayDeps, 'db' | 'clock' | 'box' | 'config'>,
  caller: Caller,
  wanted: NewEndpoint,
): Promise<CreatedEndpoint | Refused> {
  const id = await findEndpointId(db, wanted);
  const made = await changeAudited({ db, clock, config }, caller, {
    action: 'webhook.register',
    subject: { kind: 'webhook', id },
    read: async () => {
      const [known] = await findEndpoints(db, [id]);
      // Throws if its secret cannot be opened; nothing is changed then, because its events could not be signed.
      for (const { sealed } of known?.secrets.slice(0, 1) ?? []) box.open(sealed, ['endpoints', id, 'secrets.sealed']);
      return known;
    },
    make: () => createEndpoint(db, clock, box, { ...wanted, events: [...new Set(wanted.events)] }, id),
    madeOf: ({ endpoint }) => endpoint,
    isRefusal: (error) => error instanceof AllPlacesTaken,
  }).catch(tooMany);
  if (!('kind' in made)) await wait(SUBSCRIPTIONS_FRESH_MS);
  return made;
}

function tooMany(error: unknown): Refused {
  if (!(error instanceof AllPlacesTaken)) throw error;
  const detail = `An account may have ${ENDPOINTS_PER_ACCOUNT} webhooks. Register an address that it has already, or remove one: \`DELETE /v2/account/webhooks/{webhook_id}\`.`;
  return { kind: 'refused', problem: ['too_many_webhooks', { detail }] };
}

function checkEvents(
  channel: EndpointDocument['channel'],
  events: EndpointDocument['events'],
  problems: FieldProblems,
): void {
  const allowed = eventsOf(channel);
  events.forEach((event, index) => {
    if (allowed.includes(event)) return;
    problems.add(`events[${index}]`, 'invalid_value', `The events of this channel are ${allowed.join(', ')}.`);
  });
}

/** Encrypted in the store, because it may have the secret. */
async function createdAnswer(deps: Deps, found: EndpointDocument, secret: string | undefined): Promise<Accepted> {
  const record = done(await webhookRecord(deps, found));
  return { kind: 'accepted', sealed: true, body: secret === undefined ? record : { ...record, secret } };
}

export const showWebhook = endpoint({
  id: 'showWebhook',
  call: 'webhooks.get',
  method: 'get',
  path: '/v2/account/webhooks/{webhook_id}',
  tag: 'Account',
  summary: 'One webhook',
  description: 'Extension. With its health.',
  scopes: ['read', 'manage'],
  reads: 1,
  params: IN_PATH,
  answer: Webhook,
  problems: ['webhook_not_found'],
  async handle(deps, { caller, params }) {
    const found = await findOwnEndpoint(deps.db, caller.account._id, params.webhook_id);
    return found === undefined ? refused('webhook_not_found') : webhookRecord(deps, found);
  },
});

export const updateWebhook = endpoint({
  id: 'updateWebhook',
  call: 'webhooks.update',
  method: 'patch',
  path: '/v2/account/webhooks/{webhook_id}',
  tag: 'Account',
  summary: 'Change a webhook',
  description:
    'Extension. Its events, how they are posted, or whether anything is. The answer takes half a second: what happens from then on goes by the change. The address cannot be changed: register the new one, then remove the old one.',
  scopes: ['manage'],
  params: IN_PATH,
  body: request({
    events: optional(list(choice(EVENT_NAMES), { description: 'The events to post from now on.', minItems: 1 })),
    ...OPTION_FIELDS,
    state: optional(
      choice(
        ['active', 'disabled'],
        '`disabled`: nothing is posted, and what is due is discarded (it can be replayed). `active`: events are posted again, from now on.',
      ),
    ),
  }),
  ownProblems: true,
  answer: Webhook,
  problems: ['webhook_not_found'],
  examples: {
    body: { disable: { state: 'disabled' }, header: { headers: [{ name: 'X-My-Token', value: 't-1' }] } },
  },
  async handle(deps, call) {
    const { caller, params, read } = call;
    const { db, clock, box } = deps;
    const found = await findOwnEndpoint(db, caller.account._id, params.webhook_id);
    if (found === undefined) return refused('webhook_not_found');
    if (read.given.events !== undefined) checkEvents(found.channel, read.given.events, read.problems);
    checkOptions(found.channel, read.given, found, read.problems);
    if (read.problems.count > 0) return invalid(read.problems);
    const { events, state } = call.body;
    const options = givenOptions(call.body);
    const changed = await changeEndpoint(deps, caller, found, 'webhook.update', async () => {
      if (events !== undefined) await setEvents(db, clock, found._id, [...new Set(events)]);
      if (options !== undefined) await setOptions(db, box, found, options);
      if (state === 'active') await enableEndpoint(db, clock, found._id);
      if (state === 'disabled')
        await disableEndpoint(db, found._id, caller.who.kind === 'ops' ? 'operator' : 'account');
    });
    if (changed === undefined) return refused('webhook_not_found');
    // Every process has read the webhooks again by then, so the change applies to everything after the answer.
    await wait(SUBSCRIPTIONS_FRESH_MS);
    return webhookRecord(deps, changed);
  },
});

export const removeWebhook = endpoint({
  id: 'removeWebhook',
  call: 'webhooks.remove',
  method: 'delete',
  path: '/v2/account/webhooks/{webhook_id}',
  tag: 'Account',
  summary: 'Remove a webhook',
  description: 'Extension. With its secret and its log. What is due is discarded.',
  scopes: ['manage'],
  params: IN_PATH,
  answer: success('RemovedWebhook', {
    webhook_id: WebhookId,
    message: text(undefined, { example: 'The webhook is removed.' }),
  }),
  problems: ['webhook_not_found'],
  async handle(deps, { caller, params }) {
    const { db } = deps;
    const found = await findOwnEndpoint(db, caller.account._id, params.webhook_id);
    if (found === undefined) return refused('webhook_not_found');
    await changeEndpoint(deps, caller, found, 'webhook.remove', () => removeEndpoint(db, found._id));
    return done({ webhook_id: found._id, message: 'The webhook is removed.' });
  },
});

export const rotateWebhookSecret = endpoint({
  id: 'rotateWebhookSecret',
  call: 'webhooks.rotateSecret',
  method: 'post',
  path: '/v2/account/webhooks/{webhook_id}/rotate',
  tag: 'Account',
  summary: "Replace a webhook's secret",
  description:
    'Extension. Shows the new secret, this once. For 24 hours posts have both signatures, so that your server can switch at any time.',
  scopes: ['manage'],
  confirmed: true,
  params: IN_PATH,
  body: request({}),
  answer: CreatedWebhook,
  problems: ['webhook_not_found'],
  examples: { body: { now: {} } },
  // Stored with the secret, so that the webhook itself shows whether this was done.
  newId: ({ clock }) => newId('req', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, params }, { id, payBy }) {
      const { db, clock, box } = deps;
      const found = await findOwnEndpoint(db, caller.account._id, params.webhook_id);
      if (found === undefined) return refused('webhook_not_found');
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const rotated = await changeEndpoint(deps, caller, found, 'webhook.rotate', () =>
        rotateSecret(db, clock, box, { secret: newSecret(), request: id }, found._id),
      );
      return rotated === undefined ? refused('webhook_not_found') : rotatedAnswer(deps, rotated, id);
    },
    async recover(account, id) {
      const all = await listEndpoints(deps.db, account);
      const rotated = all.find(({ secrets }) => secrets.some(({ request }) => request === id));
      return rotated && rotatedAnswer(deps, rotated, id);
    },
  }),
});

/** `rotated` has the secret that the request `id` added. */
async function rotatedAnswer(deps: Deps, rotated: EndpointDocument, id: RequestId): Promise<Accepted> {
  const added: EndpointSecret | undefined = rotated.secrets.find(({ request }) => request === id);
  if (added === undefined) throw new Error(`endpoint ${rotated._id} has lost the secret of ${id}`);
  return createdAnswer(deps, rotated, deps.box.open(added.sealed, ['endpoints', rotated._id, 'secrets.sealed']));
}

/** The changed webhook; undefined when it is gone. */
function changeEndpoint(
  deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>,
  caller: Caller,
  found: EndpointDocument,
  action: string,
  change: () => Promise<unknown>,
): Promise<EndpointDocument | undefined> {
  return changeAudited(deps, caller, {
    action,
    subject: { kind: 'webhook', id: found._id },
    read: async () => found,
    make: async () => {
      await change();
      return findOwnEndpoint(deps.db, found.account, found._id);
    },
    madeOf: (made) => made ?? { removed: true },
  });
}

/** `last_failure` is present while it fails. */
async function webhookRecord(
  { db, clock }: Pick<GatewayDeps, 'db' | 'clock'>,
  found: EndpointDocument,
): Promise<Shown<typeof Webhook>> {
  const { _id, channel, url, events, status, failingSince, secrets, createdAt } = found;
  const last = failingSince === undefined ? undefined : await lastAttempt(db, _id);
  const now = clock.now();
  const old = secrets.map(({ expiresAt }) => expiresAt).filter((at) => at !== undefined && at > now);
  const until = old.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
  return {
    webhook_id: _id,
    channel,
    url,
    events,
    ...optionRecord(found),
    state: status,
    disabled_reason: status === 'disabled' ? (disabledWords(found.disabledReason) ?? null) : null,
    failing_since: failingSince === undefined ? null : isoTimestamp(failingSince),
    last_failure: last === undefined ? null : attemptRecord(last),
    old_secret_until: until === undefined ? null : isoTimestamp(until),
    created_at: isoTimestamp(createdAt),
  };
}

/** `reason`: `result` in words. */
export function attemptRecord({ at, result, durationMs }: DeliveryAttempt): Shown<typeof WebhookAttempt> {
  return { at: isoTimestamp(at), result, reason: resultWords(result), duration_ms: Math.round(durationMs) };
}

/** Deliveries read to find the newest failure of a failing webhook. */
const LOOKED_AT = 20;

/** Of the webhook's newest deliveries. Undefined while none was tried. */
async function lastAttempt(db: Db, webhook: EndpointId): Promise<DeliveryAttempt | undefined> {
  const found = await deliveriesOf(db)
    .find({ endpoint: webhook })
    .sort({ _id: -1 })
    .hint('log')
    .limit(LOOKED_AT)
    .project<Pick<Stored, 'attempts'>>({ 'attempts.at': 1, 'attempts.result': 1, 'attempts.durationMs': 1 })
    .toArray();
  const attempts = found.flatMap((stored) => stored.attempts.flatMap((attempt) => attempt ?? []).slice(-1));
  return attempts.reduce<DeliveryAttempt | undefined>((a, b) => (a === undefined || b.at > a.at ? b : a), undefined);
}
