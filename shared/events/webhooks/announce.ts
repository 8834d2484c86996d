import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FreshCache } from '../../platform/runtime/fresh-cache.ts';
import {
  type AccountId,
  type EndpointId,
  type EventId,
  eventId,
  liveAccountOf,
  type MessageId,
  thingEventId,
} from '../../platform/runtime/ids.ts';
import type { Tracer } from '../../platform/runtime/tracer.ts';
import type { AccountChange } from '../account-event.ts';
import {
  type AccountEventName,
  accountEventBody,
  type Customers,
  customersOf,
  type EventChannel,
  type EventName,
  eventBody,
  eventName,
  type MarketingChange,
  marketingEvent,
  type StateChange,
  type TemplateChange,
  templateEvent,
  type VerificationEnd,
  verificationEvent,
} from '../catalogue.ts';
import { type DeliveryDocument, deliveriesIn, deliveryId, findDeliveries, type Stored } from './delivery.ts';
import { type EndpointDocument, fitsFilter } from './endpoint.ts';
import { changeSpans } from './trace.ts';

type AnyChange = StateChange | VerificationEnd | MarketingChange | TemplateChange | AccountChange<AccountEventName>;

/**
 * How changes are announced.
 *
 * - `each`: one delivery for each change and endpoint. Ids are derived (`<event id>:<endpoint id>`), so announcing
 * the same changes again, after a crash or by another process, adds nothing.
 * - `grouped`: states of messages that nobody has announced. Those for one endpoint are one document (`DeliveryGroup`).
 * To repeat a failed call, give the same array: it stores the same documents.
 * - `again`: old changes, perhaps announced in either way. Adds missing ones, but none for endpoints registered,
 * enabled or given further events since.
 */
export type Announcing = 'each' | 'grouped' | 'again';

/** Part of a settle's follow-up: turns state changes into deliveries. */
export interface Announcer {
  /**
   * Stores one delivery for each change and each matching endpoint: active, of the change's account and channel,
   * subscribed to the event, and with a filter that the change fits. All in one unordered insert. Throws the driver's
   * error; some may be stored then, and the caller repeats the call.
   */
  announce(changes: readonly AnyChange[], how?: Announcing): Promise<void>;
}

/** Most events of one group. After a crash, the events of unfinished groups are posted again. */
export const GROUP_MAX = 100;
/** Most characters of its bodies: a hundred usual events have 35,000. A larger event is alone. */
const GROUP_CHARACTERS_MAX = 64_000;
/** How far clocks of machines may differ: better an event too early than none after a subscription. */
const CLOCKS_APART_MS = 15_000;

interface Announced {
  readonly account: AccountId;
  readonly channels: readonly EventChannel[];
  readonly event: EventName;
  readonly eventId: EventId;
  readonly message?: MessageId;
  readonly change?: StateChange;
  readonly at: Date;
  /** Made only when an endpoint is subscribed. */
  body(customers: Customers, raw: boolean): string;
}

interface AnnouncerDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Gets the spans of every change of a message. Undefined: nobody wants traces. */
  readonly tracer?: Tracer | undefined;
}

/** One per process: it caches the endpoints of accounts for half a second. */
export function createAnnouncer({ db, clock, tracer }: AnnouncerDeps): Announcer {
  const subscriptions = createSubscriptions(db, clock);
  /** For a repeat of `grouped`: what was made of the changes. */
  const made = new WeakMap<readonly AnyChange[], readonly Stored[]>();
  const make = async (changes: readonly AnyChange[], how: Announcing): Promise<readonly Stored[]> => {
    const all = changes.map(announced);
    const byAccount = await subscriptions.getMany(all.map(({ account }) => account));
    const customers = await customersOf(
      db,
      all.flatMap(({ account, event, change }) =>
        change !== undefined && byAccount.get(account)?.some(({ events }) => events.includes(event)) ? [change] : [],
      ),
    );
    const now = clock.now();
    const byEndpoint = new Map<EndpointId, DeliveryDocument[]>();
    for (const one of all) {
      const endpoints = (byAccount.get(one.account) ?? []).filter(
        ({ channel, events, filter = {}, createdAt, subscribedSince = createdAt }) =>
          one.channels.includes(channel) &&
          events.includes(one.event) &&
          fitsFilter(filter, one.change) &&
          !(how === 'again' && subscribedSince.getTime() - one.at.getTime() > CLOCKS_APART_MS),
      );
      if (endpoints.length === 0) continue;
      const bodies = new Map<boolean, string>();
      for (const { _id, raw = false } of endpoints) {
        const body = bodies.get(raw) ?? one.body(customers, raw);
        bodies.set(raw, body);
        const delivery = deliveryOf(one, _id, body, now);
        const others = byEndpoint.get(_id);
        if (others === undefined) byEndpoint.set(_id, [delivery]);
        else others.push(delivery);
      }
    }
    const deliveries = [...byEndpoint.values()];
    return how === 'grouped' ? deliveries.flatMap(grouped) : deliveries.flat();
  };
  return {
    async announce(changes, how = 'each') {
      let documents = made.get(changes) ?? (await make(changes, how));
      if (how === 'grouped') made.set(changes, documents);
      if (how === 'again') documents = await withoutGrouped(db, documents);
      await insertNew(db, 'deliveries', documents);
      if (tracer === undefined) return;
      for (const change of changes) {
        if ('message' in change && tracer.records(change.message._id)) tracer.add(changeSpans(change));
      }
    },
  };
}

/** Groups the deliveries of one endpoint. A single one stays as it is. */
function grouped(deliveries: readonly DeliveryDocument[]): readonly Stored[] {
  const inOrder = deliveries.toSorted((a, b) => Number(a.due) - Number(b.due));
  const groups: DeliveryDocument[][] = [];
  let characters = 0;
  for (const delivery of inOrder) {
    const group = groups.at(-1);
    characters += delivery.body.length;
    if (group !== undefined && group.length < GROUP_MAX && characters <= GROUP_CHARACTERS_MAX) group.push(delivery);
    else {
      groups.push([delivery]);
      characters = delivery.body.length;
    }
  }
  return groups.map(groupOf);
}

function groupOf(deliveries: readonly DeliveryDocument[]): Stored {
  const [first] = deliveries;
  assert(first?.due !== undefined, 'a group has events that are due');
  if (deliveries.length === 1) return first;
  const { _id, account, endpoint, due, createdAt } = first;
  return {
    _id: `${_id}:${deliveries.length}`,
    account,
    endpoint,
    items: deliveries.map(({ eventId, event, body }) => ({ eventId, event, body })),
    due,
    state: 'due',
    attempts: [],
    createdAt,
  };
}

/** The deliveries that are in no group yet. Those with a document of their own are not inserted again anyway. */
async function withoutGrouped(db: Db, documents: readonly Stored[]): Promise<readonly Stored[]> {
  const deliveries = documents.flatMap(deliveriesIn);
  const known = await findDeliveries(
    db,
    deliveries.map(({ _id }) => _id),
    { bodies: false },
  );
  const ids = new Set(known.map(({ _id }) => _id));
  return deliveries.filter(({ _id }) => !ids.has(_id));
}

function announced(change: AnyChange): Announced {
  if ('message' in change) return ofMessage(change);
  if ('verification' in change) return ofVerification(change);
  if ('wish' in change) return ofMarketing(change);
  return 'template' in change ? ofTemplate(change) : ofAccount(change);
}

function ofAccount(change: AccountChange<AccountEventName>): Announced {
  const { account, event, subject, at } = change;
  const id = thingEventId(subject, event, at);
  return { account, channels: ['account'], event, eventId: id, at, body: () => accountEventBody(change) };
}

function ofMessage(change: StateChange): Announced {
  const { message, entry } = change;
  return {
    account: liveAccountOf(message.account),
    channels: [message.channel],
    event: eventName(entry),
    eventId: eventId(message._id, entry.state),
    message: message._id,
    change,
    at: entry.at,
    body: (customers, raw) => eventBody(change, customers, raw),
  };
}

/** The id is like those of the message that had the code, so it is erased with them. */
function ofVerification(end: VerificationEnd): Announced {
  const { verification, outcome, at } = end;
  const { account, channel, message } = verification;
  const { event, body } = verificationEvent(end);
  return {
    account: liveAccountOf(account),
    channels: [channel],
    event,
    eventId: eventId(message, `verification_${outcome}`),
    message,
    at,
    body: () => body,
  };
}

function ofMarketing(change: MarketingChange): Announced {
  const { account, customer, at } = change;
  const { event, body } = marketingEvent(change);
  const id = thingEventId(`${account}:${customer}`, event, at);
  return { account, channels: ['chatapp'], event, eventId: id, at, body: () => body };
}

function ofTemplate(change: TemplateChange): Announced {
  const { account, channel, template, event: outcome, at } = change;
  const { event, body } = templateEvent(change);
  const id = thingEventId(template, outcome, at);
  return { account, channels: [channel, 'account'], event, eventId: id, at, body: () => body };
}

function deliveryOf(
  { account, event, eventId: id, message, at }: Announced,
  endpoint: EndpointId,
  body: string,
  now: Date,
): DeliveryDocument {
  return {
    _id: deliveryId(id, endpoint),
    account,
    endpoint,
    eventId: id,
    event,
    ...(message === undefined ? {} : { message }),
    body,
    // Due at the change's own time, so that `sent` is posted before `delivered` even when both are announced at once.
    due: at < now ? at : now,
    state: 'due',
    attempts: [],
    createdAt: now,
  };
}

export type Subscription = Pick<
  EndpointDocument,
  '_id' | 'channel' | 'events' | 'filter' | 'raw' | 'createdAt' | 'subscribedSince'
>;

/**
 * How long a process uses what it read. Short, because the API answers a registration or change only after that
 * (gateway/endpoints/webhooks/); long enough that a busy account costs two reads a second, not one per group of events.
 */
export const SUBSCRIPTIONS_FRESH_MS = 500;
/** Each has few endpoints (endpoint-store.ts). */
const ACCOUNTS_MAX = 10_000;

function createSubscriptions(db: Db, clock: Clock): FreshCache<AccountId, readonly Subscription[]> {
  return new FreshCache({
    clock,
    freshMs: SUBSCRIPTIONS_FRESH_MS,
    maxEntries: ACCOUNTS_MAX,
    readMany: (accounts) => readSubscriptions(db, accounts),
  });
}

async function readSubscriptions(
  db: Db,
  accounts: readonly AccountId[],
): Promise<ReadonlyMap<AccountId, readonly Subscription[]>> {
  const byAccount = new Map<AccountId, Subscription[]>(accounts.map((account) => [account, []]));
  const endpoints = db
    .collection<EndpointDocument>('endpoints')
    .find({ account: { $in: [...accounts] }, status: 'active' })
    .project<Subscription & Pick<EndpointDocument, 'account'>>({
      ...{ account: 1, channel: 1, events: 1, filter: 1, raw: 1, createdAt: 1, subscribedSince: 1 },
    });
  for await (const { account, ...subscription } of endpoints) byAccount.get(account)?.push(subscription);
  return byAccount;
}
