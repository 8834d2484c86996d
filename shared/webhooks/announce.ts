import type { Db } from 'mongodb';
import { type EventName, eventBody, eventName, type StateChange, templateEvent } from '../events/catalogue.ts';
import type { TemplateChange } from '../events/template-change.ts';
import type { ChannelName } from '../messages/message.ts';
import { insertNew } from '../mongo/insert-new.ts';
import type { Clock } from '../runtime/clock.ts';
import {
  type AccountId,
  type EndpointId,
  type EventId,
  eventId,
  type MessageId,
  templateEventId,
} from '../runtime/ids.ts';
import { type DeliveryDocument, deliveryId } from './delivery.ts';
import { createSubscriptions } from './subscriptions.ts';

/** Part of a settle's follow-up: turns state changes into deliveries. */
export interface Announcer {
  /**
   * Stores one delivery for each change and each matching endpoint: active, of the change's account and channel, and subscribed
   * to the event. All in one unordered insert. Ids are derived (`<event id>:<endpoint id>`), so announcing the same changes
   * again, after a crash or by another process, adds nothing. Throws the driver's error when the store fails. Some may be stored
   * then; the caller repeats the call.
   *
   * `again`: these changes may be old, and may have been announced. An endpoint that was registered, enabled or given further
   * events since gets none of them.
   */
  announce(changes: readonly (StateChange | TemplateChange)[], again?: boolean): Promise<void>;
}

/** How far the clocks of two machines may differ. Rather an event from before its subscription than none from after it. */
const CLOCKS_APART_MS = 15_000;

/** What a delivery is made of. */
interface Announced {
  readonly account: AccountId;
  readonly channel: ChannelName;
  readonly event: EventName;
  readonly eventId: EventId;
  readonly message?: MessageId;
  readonly at: Date;
  /** Made only when an endpoint is subscribed. */
  body(): string;
}

/** Create one per process: it caches the endpoints of accounts for half a second. */
export function createAnnouncer({ db, clock }: { readonly db: Db; readonly clock: Clock }): Announcer {
  const subscriptions = createSubscriptions(db, clock);
  return {
    async announce(changes, again = false) {
      const all = changes.map((change) => ('message' in change ? ofMessage(change) : ofTemplate(change)));
      const byAccount = await subscriptions.getMany(all.map(({ account }) => account));
      const now = clock.now();
      const documents: DeliveryDocument[] = [];
      for (const one of all) {
        const endpoints = (byAccount.get(one.account) ?? []).filter(
          ({ channel, events, createdAt, subscribedSince = createdAt }) =>
            channel === one.channel &&
            events.includes(one.event) &&
            !(again && subscribedSince.getTime() - one.at.getTime() > CLOCKS_APART_MS),
        );
        if (endpoints.length === 0) continue;
        const body = one.body();
        for (const { _id } of endpoints) documents.push(deliveryOf(one, _id, body, now));
      }
      await insertNew(db, 'deliveries', documents);
    },
  };
}

function ofMessage(change: StateChange): Announced {
  const { message, entry } = change;
  return {
    account: message.account,
    channel: message.channel,
    event: eventName(entry),
    eventId: eventId(message._id, entry.state),
    message: message._id,
    at: entry.at,
    body: () => eventBody(change),
  };
}

function ofTemplate(change: TemplateChange): Announced {
  const { account, channel, template, told, at } = change;
  const { event, body } = templateEvent(change);
  return { account, channel, event, eventId: templateEventId(template, told, at), at, body: () => body };
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
