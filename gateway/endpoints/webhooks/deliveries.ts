import type { Db, Filter } from 'mongodb';
import { z } from 'zod';
import { EVENT_NAMES, type EventName, MESSAGE_EVENT_NAMES, stateOf } from '../../../shared/events/catalogue.ts';
import {
  type DeliveryDocument,
  type DeliveryId,
  type DeliveryState,
  deliveriesIn,
  deliveriesOf,
  deliveryId,
  findDeliveries,
  replayDelivery,
  type Stored,
} from '../../../shared/events/webhooks/delivery.ts';
import { findOwnEndpoint } from '../../../shared/events/webhooks/endpoint-store.ts';
import { FAILED_STATES } from '../../../shared/platform/mongo/indexes.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import {
  type EndpointId,
  type EventId,
  eventId,
  isMessageId,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';
import { maskCodes, receivedTextsFor, type Texts } from '../../access/texts.ts';
import { done, endpoint, refused } from '../../api/endpoint.ts';
import { named, pageShape, success, text, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { choice, Fault, optional, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, readsPer } from '../../http/fields/query.ts';
import { attemptRecord, IN_PATH, PostResult, WebhookAttempt } from './webhooks.ts';

interface DeliveryFilter {
  readonly event?: EventName | undefined;
  readonly state?: DeliveryState | undefined;
  readonly message?: MessageId | undefined;
}

type ListedDelivery = Omit<DeliveryDocument, 'body'>;

/** Where a page ended: a document and the last delivery of it that was looked at, `<_id>/<delivery>`. */
type Place = `${Stored['_id']}/${DeliveryId}`;

function isPlace(text: string): text is Place {
  return /^evt_[0-9a-z_]{1,100}:whk_[0-9a-f]{26}(:\d{1,3})?\/evt_[0-9a-z_]{1,100}:whk_[0-9a-f]{26}$/.test(text);
}

interface DeliveryPage {
  readonly deliveries: readonly ListedDelivery[];
  readonly next: Place | undefined;
}

const LISTED_FIELDS = Object.fromEntries(
  [
    ...['account', 'endpoint', 'eventId', 'event', 'message', 'state', 'retryAt', 'replayedAt', 'createdAt'],
    ...['items.eventId', 'items.event', 'attempts.at', 'attempts.result', 'attempts.durationMs'],
  ].map((name) => [name, 1]),
);

/**
 * The most deliveries per call when no index has the filter (the event, states other than failed). A page may then be
 * short, even empty, and say where to continue.
 */
export const DELIVERY_WALK_MAX = 1_000;
const READ_TOGETHER = 50;

/**
 * Newest messages first, after `after`; a group announced together has the place of one of its messages. Walks an index
 * backward. Failed ones have their own index, and deliveries of a message have known ids.
 */
async function listDeliveries(
  db: Db,
  endpoint: EndpointId,
  { event, state, message }: DeliveryFilter,
  after: Place | undefined,
  limit: number,
): Promise<DeliveryPage> {
  const fits = (one: ListedDelivery) =>
    (event === undefined || one.event === event) && (state === undefined || one.state === state);
  if (message !== undefined) {
    const all = await findDeliveries(db, idsOf(message, endpoint), { bodies: false });
    const left = all.filter((one) => fits(one) && (after === undefined || one._id < after)).sort(newestFirst);
    const last = left[limit] && left[limit - 1];
    return { deliveries: left.slice(0, limit), next: last && `${last._id}/${last._id}` };
  }
  const failed = state === 'due' || state === 'done' ? undefined : state;
  const walk = { endpoint, ...(failed && { state: failed }) };
  const shown: ListedDelivery[] = [];
  let place = after;
  for (let looked = 0; looked < DELIVERY_WALK_MAX; ) {
    const page = await readPage(db, walk, failed === undefined ? 'log' : FAILED_STATES[failed], place);
    if (page.length === 0) return { deliveries: shown, next: undefined };
    for (const { at, delivery } of page) {
      if (shown.length === limit || looked++ === DELIVERY_WALK_MAX) return { deliveries: shown, next: place };
      place = at;
      if (delivery !== undefined && fits(delivery)) shown.push(delivery);
    }
  }
  return { deliveries: shown, next: place };
}

/** Undefined for an item of a group that has its own document. */
async function readPage(
  db: Db,
  walk: Filter<DeliveryDocument>,
  index: string,
  place: Place | undefined,
): Promise<readonly { readonly at: Place; readonly delivery: ListedDelivery | undefined }[]> {
  const [document, last] = (place?.split('/') ?? []) as [Stored['_id']?, DeliveryId?]; // as `isPlace` says
  const stored = await deliveriesOf(db)
    .find({ ...walk, ...(document === undefined ? {} : { _id: { $lte: document as DeliveryId } }) })
    .sort({ _id: -1 })
    .hint(index)
    .limit(READ_TOGETHER)
    .project<Stored>(LISTED_FIELDS)
    .toArray();
  const listed = stored.flatMap((one) =>
    [...deliveriesIn(one)]
      .sort(newestFirst)
      .filter(({ _id }) => one._id !== document || last === undefined || _id < last)
      .map((delivery) => ({ at: `${one._id}/${delivery._id}` as const, grouped: 'items' in one, delivery })),
  );
  const grouped = listed.filter((one) => one.grouped).map(({ delivery }) => delivery._id);
  const apart = new Set(grouped.length === 0 ? [] : await ownDocuments(db, grouped));
  return listed.map(({ at, grouped, delivery }) => ({
    at,
    delivery: grouped && apart.has(delivery._id) ? undefined : delivery,
  }));
}

async function ownDocuments(db: Db, ids: readonly DeliveryId[]): Promise<readonly DeliveryId[]> {
  const found = await deliveriesOf(db)
    .find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } })
    .toArray();
  return found.map(({ _id }) => _id);
}

function idsOf(message: MessageId, endpoint: EndpointId): readonly DeliveryId[] {
  return MESSAGE_EVENT_NAMES.map((name) => deliveryId(eventId(message, stateOf(name)), endpoint));
}

function newestFirst(a: ListedDelivery, b: ListedDelivery): number {
  return a._id < b._id ? 1 : -1;
}

export const DELIVERY_STATES = [
  'due',
  'waiting',
  'done',
  'exhausted',
  'discarded',
] as const satisfies readonly DeliveryDocument['state'][];

const EventIdText = text(undefined, {
  pattern: '^evt_[0-9a-z_]{1,100}$',
  example: 'evt_01m7znjn7hdb5pft3awkb6pgvz_delivered',
});
const ONE_IN_PATH = { ...IN_PATH, event_id: EventIdText.describe("Id of the event: the post's `webhook-id`.") };

const COMMON = {
  event_id: EventIdText.describe('Sent as `webhook-id`, the same on every try.'),
  event: z.enum(EVENT_NAMES).meta({ example: 'message.delivered' }),
  message_id: text('The message that the event is about.', { example: 'msg_01m7znjn7hdb5pft3awkb6pgvz' }).nullable(),
  state: z.enum(DELIVERY_STATES).meta({
    description:
      '`due`: posted next. `waiting`: for `next_try_at`. `done`: acknowledged. `exhausted`: all tries failed. `discarded`: the webhook was disabled. The last two can be replayed.',
    example: 'waiting',
  }),
  created_at: text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' }),
  next_try_at: text(undefined, { format: 'date-time', example: '2026-11-22T14:07:00+00:00' }).nullable(),
  replayed_at: text('When it was posted again on demand.', { format: 'date-time' }).nullable(),
  tries: whole('Posts so far, replays included.', { example: 1 }),
};

const DeliveryEntry = named('ListedDelivery', 'An event that was posted, or will be, without its body.', {
  ...COMMON,
  last_attempt: WebhookAttempt.nullable().meta({
    description: 'The newest post.',
    example: { at: '2026-11-22T14:02:00+00:00', result: 500, reason: 'Your server answered 500.', duration_ms: 84 },
  }),
});

const WebhookDelivery = named('WebhookDelivery', {
  ...COMMON,
  body: text('What is posted, byte by byte.', {
    example:
      '{"event":"message.delivered","message_id":"msg_01m7znjn7hdb5pft3awkb6pgvz","to":"919876543210","status":"delivered","operator":"jio","delivered_at":"2026-11-22T10:00:00+00:00","timestamp":"2026-11-22T10:00:00+00:00"}',
  }),
  attempts: z
    .array(
      z.strictObject({
        ...WebhookAttempt.shape,
        result: PostResult,
        answer: text('The first 2 KB of the answer, when it was not 2xx.', {
          example: 'Internal Server Error',
        }).nullable(),
      }),
    )
    .meta({ description: 'All posts, oldest first.' }),
});

export const deliveries = endpoint({
  id: 'deliveries',
  call: 'webhooks.deliveries',
  method: 'get',
  path: '/v2/account/webhooks/{webhook_id}/deliveries',
  tag: 'Account',
  summary: "A webhook's deliveries",
  description:
    'Extension. What was posted or will be, those of the newest messages first; deliveries of messages that changed together stand together. A page looks at 1,000 deliveries at most, so a filtered one may be short and still say where to go on. A page counts as one request for each 100 of `limit`.',
  // The bodies contain what customers wrote.
  scopes: ['read'],
  params: IN_PATH,
  query: {
    event: optional(choice(EVENT_NAMES, 'Only this event.')),
    state: optional(choice(DELIVERY_STATES, 'Only deliveries of this state.')),
    message_id: optional(
      string({ description: 'Only events of this message.', pattern: '^msg_[0-9a-hjkmnp-tv-z]{26}$' }, (id) =>
        isMessageId(id) ? id : new Fault('invalid_value', 'It must be a message_id, `msg_` and 26 characters.'),
      ),
    ),
    limit,
    cursor: cursorOf('deliveries', isPlace),
  },
  reads: readsPer(100),
  answer: pageShape('DeliveryPage', DeliveryEntry, 'Deliveries, those of the newest messages first.'),
  problems: ['webhook_not_found'],
  async handle({ db }, { caller, params, query }) {
    const webhook = await findOwnEndpoint(db, caller.account._id, params.webhook_id);
    if (webhook === undefined) return refused('webhook_not_found');
    const { event, state, message_id: message, cursor, limit } = query;
    const found = await listDeliveries(db, webhook._id, { event, state, message }, cursor, limit);
    return pageOf('deliveries', found.deliveries.map(entryRecord), found.next);
  },
});

export const showDelivery = endpoint({
  id: 'showDelivery',
  call: 'webhooks.delivery',
  method: 'get',
  path: '/v2/account/webhooks/{webhook_id}/deliveries/{event_id}',
  tag: 'Account',
  summary: 'One delivery',
  description: 'Extension. What is posted, and every attempt with what was answered.',
  scopes: ['read'],
  params: ONE_IN_PATH,
  reads: 1,
  answer: WebhookDelivery,
  problems: ['webhook_not_found', 'delivery_not_found'],
  async handle({ db }, { caller, params }) {
    const webhook = await findOwnEndpoint(db, caller.account._id, params.webhook_id);
    if (webhook === undefined) return refused('webhook_not_found');
    const _id = `${params.event_id}:${webhook._id}` as DeliveryId; // only compared with
    const [found] = await findDeliveries(db, [_id], { bodies: true });
    return found === undefined ? refused('delivery_not_found') : complete(found, receivedTextsFor(caller));
  },
});

/** Like `ops webhook replay-event`. */
export const replayOne = endpoint({
  id: 'replayDelivery',
  call: 'webhooks.replayDelivery',
  method: 'post',
  path: '/v2/account/webhooks/{webhook_id}/deliveries/{event_id}/replay',
  tag: 'Account',
  summary: 'Post one event again',
  description: 'Extension. Even one that was acknowledged.',
  scopes: ['manage', 'admin:support'],
  params: ONE_IN_PATH,
  answer: success('ReplayedDelivery', {
    event_id: EventIdText,
    message: text(undefined, { example: 'The event is posted again.' }),
  }),
  problems: ['webhook_not_found', 'delivery_not_found', 'webhook_disabled', 'delivery_pending'],
  async handle(deps, { caller, params }) {
    const { db, clock } = deps;
    const webhook = await findOwnEndpoint(db, caller.account._id, params.webhook_id);
    if (webhook === undefined) return refused('webhook_not_found');
    const event = params.event_id as EventId; // only compared with
    const id = deliveryId(event, webhook._id);
    const [found] = await findDeliveries(db, [id], { bodies: false });
    if (found === undefined) return refused('delivery_not_found');
    // Its posts would be discarded at once.
    if (webhook.status !== 'active') return refused('webhook_disabled');
    const replay = changeAudited(deps, caller, {
      action: 'webhook.replay-event',
      subject: { kind: 'webhook', id: webhook._id },
      async make() {
        if (!(await replayDelivery(db, id, clock.now()))) throw new NotReplayable();
      },
      madeOf: () => ({ event }),
      isRefusal: (error) => error instanceof NotReplayable,
    });
    const replayed = await replay.then(() => true).catch(notReplayable);
    return replayed ? done({ event_id: event, message: 'The event is posted again.' }) : refused('delivery_pending');
  },
});

/** The delivery is on its way or waits for its next try: nothing is changed, and the audit has no entry. */
class NotReplayable extends Error {}

function notReplayable(error: unknown): false {
  if (error instanceof NotReplayable) return false;
  throw error;
}

function entryRecord(delivery: ListedDelivery) {
  const last = delivery.attempts.at(-1);
  return { ...common(delivery), last_attempt: last === undefined ? null : attemptRecord(last) };
}

function complete(delivery: DeliveryDocument, texts: Texts) {
  const attempts = delivery.attempts.map((attempt) => ({ ...attemptRecord(attempt), answer: attempt.excerpt ?? null }));
  return { ...common(delivery), body: bodyFor(delivery, texts), attempts };
}

/** The body unchanged; but of what customers wrote, operators see no more than elsewhere. */
function bodyFor({ event, body }: DeliveryDocument, texts: Texts): string {
  if (event !== 'message.received' || texts === 'whole') return body;
  const flat = Object.entries(JSON.parse(body)).filter(([, value]) => typeof value !== 'object');
  const said = (value: unknown) => (texts === 'hidden' ? '' : maskCodes(String(value)));
  return JSON.stringify(Object.fromEntries(flat.map(([name, value]) => [name, name === 'body' ? said(value) : value])));
}

function common({ eventId, event, message, state, createdAt, retryAt, replayedAt, attempts }: ListedDelivery) {
  return {
    event_id: eventId,
    event,
    message_id: message ?? null,
    state,
    created_at: isoTimestamp(createdAt),
    next_try_at: retryAt === undefined ? null : isoTimestamp(retryAt),
    replayed_at: replayedAt === undefined ? null : isoTimestamp(replayedAt),
    tries: attempts.length,
  };
}
