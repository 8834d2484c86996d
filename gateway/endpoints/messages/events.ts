import type { Db } from 'mongodb';
import { z } from 'zod';
import {
  customersOf,
  eventBody,
  eventName,
  MESSAGE_EVENT_NAMES,
  type MessageEventName,
  stateOf,
} from '../../../shared/events/catalogue.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { HistoryEntry } from '../../../shared/messages/document/message.ts';
import {
  type AccountId,
  type EventId,
  eventId,
  isMessageId,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { FALLBACK_BECAUSE, MessageFallbackEvent, MessageReceivedEvent } from '../../api/event-shapes.ts';
import { flag, named, text, time } from '../../api/shapes.ts';
import { choice, Fault, optional, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, queryTime, readsPer } from '../../http/fields/query.ts';
import { MessageId as MessageIdShape } from './shapes.ts';

const { opt_out, missing_parts, total_parts, data_coding, button, context, reply_to, group_id, customer, test } =
  MessageReceivedEvent.shape;

const Event = z
  .looseObject({
    event_id: text('The header `webhook-id` of the posts.', {
      pattern: '^evt_[0-9a-hjkmnp-tv-z]{26}_[a-z_]+$',
      example: 'evt_01m7znjn7hdb5pft3awkb6pgvz_delivered',
    }),
    event: z.enum(MESSAGE_EVENT_NAMES).meta({ example: 'message.delivered' }),
    message_id: MessageIdShape,
    to: text(undefined, { example: '919876543210' }).optional(),
    status: z
      .enum(['sent', 'delivered', 'failed', 'expired', 'rejected', 'read'])
      .meta({ description: 'The state of this event.', example: 'delivered' })
      .optional(),
    operator: text(undefined, { example: 'Example Carrier' }).nullable().optional(),
    delivered_at: time(undefined, '2026-11-21T10:00:04+00:00').optional(),
    timestamp: time('When it happened.', '2026-11-21T10:00:04+00:00'),
    error_code: text().nullable().optional(),
    error_reason: text().nullable().optional(),
    reference: text(undefined, { example: 'order 7' }).optional(),
    conversation_id: text().optional(),
    from: text('The customer; of what was sent on the chat-app channel, your number.').nullable().optional(),
    type: text().optional(),
    body: text().optional(),
    recipient: text("Of an opt-out: the customer's number.").optional(),
    number: text('Of an opt-out: your number that the customer wrote to.').optional(),
    word: text('Of an opt-out: what the customer wrote.').optional(),
    fallback_message_id: MessageFallbackEvent.shape.fallback_message_id.optional(),
    because: FALLBACK_BECAUSE.optional(),
    channel: z.literal('sms').meta({ description: 'SMS only.' }).optional(),
    opt_out,
    missing_parts,
    total_parts,
    data_coding,
    button,
    context,
    reply_to,
    group_id,
    customer,
    test,
  })
  .meta({
    id: 'Event',
    description:
      'The payload that webhooks get, with its id. `message.received` has `from`, `type` and `body`; and your number in `to`; of an SMS also `channel`. `recipient.opted_out` and `recipient.opted_in` have `recipient`, `number`, `word` and `channel`, `message.fallback` has `fallback_message_id` and `because`. Types other than `text` have one more member, named like the type, with the details.',
  });

const EventPage = named('EventPage', 'Events, newest first.', {
  data: z.array(Event).meta({ description: 'Newest first.' }),
  next_cursor: text('Send it as `cursor` to get the next page; null at the end.', {
    example: 'ZXZlbnRzOjE4OTYwODI0MDQwMDA6ZXZ0XzAxbTd6bmpuN2hkYjVwZnQzYXdrYjZwZ3Z6X2RlbGl2ZXJlZA',
  }).nullable(),
  has_more: flag('Whether there may be more.', true),
});

/** Also for accounts without webhooks. */
export const events = endpoint({
  id: 'events',
  call: 'events.list',
  method: 'get',
  path: '/v2/events',
  tag: 'Reading back',
  summary: 'Events of the account',
  description:
    'Extension. What happened to your messages in the last seven days, newest first, in pages. These are the payloads of webhooks; you need no webhook to read them here. Members that describe the message (`operator`, `error_code` …) have their latest values. A page ends early when its payloads exceed a megabyte. It counts as one request for each 100 of `limit`. Events of templates are not listed here: `GET /v2/account/templates` and `GET /v2/account/chatapp/templates` show their states.',
  scopes: ['read'],
  test: 'apart',
  ownOnly: true,
  query: {
    event: optional(choice(MESSAGE_EVENT_NAMES, 'One kind of event.')),
    message_id: optional(
      string({ description: 'Events of one message.', pattern: '^msg_[0-9a-hjkmnp-tv-z]{26}$' }, (id) =>
        isMessageId(id) ? id : new Fault('invalid_value', 'It must be a message_id, `msg_` and 26 characters.'),
      ),
    ),
    since: optional(queryTime('Happened at this time or later. A plus sign must be written as `%2B`.')),
    until: optional(queryTime('Happened before this time.')),
    limit,
    cursor: cursorOf('events', isPlace),
  },
  reads: readsPer(100),
  answer: EventPage,
  async handle({ db, clock }, { caller, query: { event, message_id, since, until, limit, cursor } }) {
    const account = caller.account._id;
    const filter = { name: event, message: message_id, since, until };
    const after = cursor && placeOf(cursor);
    const { events, next: nextListed } = await listEvents(db, account, filter, clock.now(), after, limit);
    const { bodies, taken } = await readEventBodies(db, account, events);
    const { next } = cutPage(events, taken, nextListed);
    return pageOf('events', bodies.map(eventRecord), next && textOf(next));
  },
});

/** The payload of webhooks with its id, the post's header `webhook-id`. */
function eventRecord({ id, body }: EventBody): Shown<typeof Event> {
  return { event_id: id, ...JSON.parse(body) };
}

type PlaceText = `${number}:${EventPlace['id']}`;

function isPlace(text: string): text is PlaceText {
  return /^(0|[1-9]\d{0,14}):(evt_[0-9a-hjkmnp-tv-z]{26}_[a-z_]{0,20})?$/.test(text);
}

function placeOf(text: PlaceText): EventPlace {
  const colon = text.indexOf(':');
  const id = text.slice(colon + 1) as EventPlace['id']; // the text has the form of a cursor's place
  return { atMs: Number(text.slice(0, colon)), id };
}

function textOf({ atMs, id }: EventPlace): PlaceText {
  return `${atMs}:${id}`;
}

interface EventBody {
  readonly id: EventId;
  readonly body: string;
}

interface EventBodies {
  readonly bodies: readonly EventBody[];
  /** How many of the events, counted from the first, are in this answer. The rest belongs to the next page. */
  readonly taken: number;
}

/** Characters of all bodies. A message may have 64 KB; 500 blocked a gateway for seconds. */
const WEIGHT_MAX = 1_048_576;
/** Messages of the first read. Later reads aim at `GROUP_WEIGHT`, judged by the read before. */
const FIRST_GROUP = 16;
const GROUP_MAX = 256;
const GROUP_WEIGHT = 131_072;

/** In order, until a page is full; at least one. Leaves out messages removed since. */
async function readEventBodies(db: Db, account: AccountId, events: readonly ListedEvent[]): Promise<EventBodies> {
  const bodies: EventBody[] = [];
  let taken = 0;
  let weight = 0;
  for (let size = FIRST_GROUP; taken < events.length; ) {
    const group = events.slice(taken, taken + size);
    const messages = await readMessages(db, account, group);
    const changes = group.flatMap(({ message: id, entry }) => {
      const message = messages.get(id);
      return message === undefined ? [] : [{ message, entry }];
    });
    const customers = await customersOf(db, changes);
    let groupWeight = 0;
    for (const { id, message: messageId, entry } of group) {
      const message = messages.get(messageId);
      const body = message === undefined ? '' : eventBody({ message, entry }, customers);
      if (bodies.length > 0 && weight + body.length > WEIGHT_MAX) return { bodies, taken };
      if (body !== '') bodies.push({ id, body });
      taken += 1;
      weight += body.length;
      groupWeight += body.length;
    }
    size = Math.max(1, Math.min(GROUP_MAX, Math.floor((group.length * GROUP_WEIGHT) / Math.max(groupWeight, 1))));
  }
  return { bodies, taken };
}

async function readMessages(
  db: Db,
  account: AccountId,
  events: readonly ListedEvent[],
): Promise<ReadonlyMap<MessageId, AnyMessage>> {
  const ids = [...new Set(events.map(({ message }) => message))];
  const found = await db
    .collection<AnyMessage>('messages')
    .find({ _id: { $in: ids }, account }, { batchSize: ids.length + 1 })
    .toArray();
  return new Map(found.map((message) => [message._id, message]));
}

/** Events are entries of message histories. Older ones are not listed. */
const EVENTS_MS = 7 * 24 * 3_600_000;

interface ListedEvent {
  readonly id: EventId;
  readonly message: MessageId;
  readonly entry: HistoryEntry;
}

/** The only fields read to list events, because a customer's message can be large. */
type WithHistory = Pick<AnyMessage, '_id' | 'history'>;
const HISTORY = { history: 1 } as const;

interface EventFilter {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly name?: MessageEventName | undefined;
  readonly message?: MessageId | undefined;
}

/** Events are ordered by time, then id. An empty id precedes all of its millisecond. */
interface EventPlace {
  readonly atMs: number;
  readonly id: EventId | '';
}

interface FoundEvents {
  readonly events: readonly ListedEvent[];
  /** Exclusive. Undefined at the end of the list. */
  readonly next: EventPlace | undefined;
}

/** The index is named, so that no query plan walks all messages of the account. */
const INDEX = 'events_by_state';
/** How far clocks of other machines may be ahead of ours. */
const AHEAD_MS = 60_000;
const FULL = 0.75;
const WIDEN_MAX = 16;
/**
 * After a slice with too many events, the next should have this part of them: less for several states, because the
 * index returns the newest of each.
 */
const ONE_STATE_PART = 0.9;
const SEVERAL_STATES_PART = 0.4;

/**
 * Up to `limit` events of an account from the last seven days, newest first, older than `after`.
 *
 * An index over the history array gives no order, so the store would read and sort all that is left. But it can find
 * the messages that reached a state between two times. So this walks back in slices of time and sorts each itself: a
 * slice with too many messages is narrowed, and after one with few the next is wider. A page costs a few reads of its
 * own size, for any number of events (docs/decisions/0022).
 */
async function listEvents(
  db: Db,
  account: AccountId,
  filter: EventFilter,
  now: Date,
  after: EventPlace | undefined,
  limit: number,
): Promise<FoundEvents> {
  const fromMs = Math.max(filter.since?.getTime() ?? 0, now.getTime() - EVENTS_MS);
  const untilMs = Math.min(filter.until?.getTime() ?? Number.POSITIVE_INFINITY, now.getTime() + AHEAD_MS);
  let before: EventPlace = after === undefined || after.atMs >= untilMs ? { atMs: untilMs, id: '' } : after;
  if (filter.message !== undefined) {
    const message = await db
      .collection<AnyMessage>('messages')
      .findOne<WithHistory>({ _id: filter.message, account }, { projection: HISTORY });
    return cutPage(eventsIn(message === null ? [] : [message], fromMs, before, filter), limit, undefined);
  }

  const names = filter.name === undefined ? MESSAGE_EVENT_NAMES : [filter.name];
  const sliceMax = limit + 2;
  const events: ListedEvent[] = [];
  let widthMs = Number.POSITIVE_INFINITY; // an account with few events is read at once
  while (events.length <= limit) {
    const endMs = endOf(before);
    if (endMs <= fromMs) return cutPage(events, limit, undefined);
    const startMs = Math.max(fromMs, endMs - widthMs);
    let found = await readSlice(db, reachedBetween(account, names, startMs, endMs), sliceMax + 1);
    let read: EventPlace = { atMs: startMs, id: '' };
    if (found.length > sliceMax) {
      if (endMs - startMs > 1) {
        widthMs = narrower(eventsIn(found, startMs, before, filter), endMs - startMs, endMs);
        continue;
      }
      found = await readMoment(db, reachedBetween(account, names, startMs, endMs), before, sliceMax);
      const last = found.at(-1);
      if (last !== undefined && found.length === sliceMax) read = { atMs: startMs, id: eventId(last._id, '') };
    }
    events.push(...eventsIn(found, startMs, before, filter));
    before = read;
    widthMs = Math.ceil((endMs - startMs) * Math.min(WIDEN_MAX, (FULL * sliceMax) / Math.max(found.length, 1)));
  }
  return cutPage(events, limit, before);
}

function endOf({ atMs, id }: EventPlace): number {
  return id === '' ? atMs : atMs + 1;
}

function readSlice(db: Db, slice: object, limit: number): Promise<readonly WithHistory[]> {
  return db
    .collection<AnyMessage>('messages')
    .find(slice)
    .project<WithHistory>(HISTORY)
    .hint(INDEX)
    .limit(limit)
    .batchSize(limit + 1) // everything in one reply
    .toArray();
}

/** The messages of one millisecond in the order of events: descending ids, from that of `before`. */
function readMoment(db: Db, slice: object, before: EventPlace, limit: number): Promise<readonly WithHistory[]> {
  const below = before.id === '' ? {} : { _id: { $lte: messageOf(before.id) } };
  return db
    .collection<AnyMessage>('messages')
    .find({ ...slice, ...below })
    .project<WithHistory>(HISTORY)
    .sort({ _id: -1 })
    .hint(INDEX)
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

/**
 * Messages that reached one of the states `names` from `startMs` (included) to `endMs` (excluded). Both conditions are
 * inside `$elemMatch`: otherwise different elements could meet them, and the index walk would not be bounded.
 */
export function reachedBetween(
  account: AccountId,
  names: readonly MessageEventName[],
  startMs: number,
  endMs: number,
): object {
  const at = { $gte: new Date(startMs), $lt: new Date(endMs) };
  return {
    account,
    'history.0': { $exists: true },
    history: { $elemMatch: { state: { $in: names.map(stateOf) }, at } },
  };
}

/**
 * The next width after too many messages. The index returns the newest of each state first, so these show where a page
 * ends. Each try is at most a quarter as wide as the last, so the search ends.
 */
function narrower(newest: readonly ListedEvent[], widthMs: number, endMs: number): number {
  const states = new Set(newest.map(({ entry }) => entry.state)).size;
  const last = newest[Math.floor(newest.length * (states > 1 ? SEVERAL_STATES_PART : ONE_STATE_PART))];
  return Math.max(1, Math.min(Math.floor(widthMs / 4), endMs - (last?.entry.at.getTime() ?? endMs)));
}

function eventsIn(
  messages: readonly WithHistory[],
  startMs: number,
  before: EventPlace,
  { name }: EventFilter,
): ListedEvent[] {
  return messages
    .flatMap(({ _id, history }) => history.map((entry) => ({ id: eventId(_id, entry.state), message: _id, entry })))
    .filter(({ id, entry }) => {
      const atMs = entry.at.getTime();
      const older = atMs < before.atMs || (atMs === before.atMs && id < before.id);
      return older && atMs >= startMs && (name === undefined || eventName(entry) === name);
    })
    .sort((a, b) => b.entry.at.getTime() - a.entry.at.getTime() || (a.id < b.id ? 1 : -1));
}

function cutPage(events: readonly ListedEvent[], most: number, next: EventPlace | undefined): FoundEvents {
  if (events.length <= most) return { events, next };
  const page = events.slice(0, most);
  const last = page.at(-1);
  return { events: page, next: last === undefined ? undefined : { atMs: last.entry.at.getTime(), id: last.id } };
}

function messageOf(id: EventId): MessageId {
  return `msg_${id.slice(4, 30)}`;
}
