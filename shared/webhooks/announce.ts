import type { Db } from 'mongodb';
import type { StateChange } from '../events/catalogue.ts';
import { eventBody, eventName } from '../events/catalogue.ts';
import { insertNew } from '../mongo/insert-new.ts';
import type { Clock } from '../runtime/clock.ts';
import { type EndpointId, eventId } from '../runtime/ids.ts';
import { type DeliveryDocument, deliveryId } from './delivery.ts';
import { createSubscriptions } from './subscriptions.ts';

/** Part of a settle's follow-up: turns state changes into deliveries. */
export interface Announcer {
  /**
   * Stores one delivery for each change and each matching endpoint: active, of the message's account and channel, and subscribed
   * to the event. All in one unordered insert. Ids are derived (`<event id>:<endpoint id>`), so announcing the same changes
   * again, after a crash or by another process, adds nothing. Throws the driver's error when the store fails. Some may be stored
   * then; the caller repeats the call.
   */
  announce(changes: readonly StateChange[]): Promise<void>;
}

/** Create one per process: it caches the endpoints of accounts for half a second. */
export function createAnnouncer({ db, clock }: { readonly db: Db; readonly clock: Clock }): Announcer {
  const subscriptions = createSubscriptions(db, clock);
  return {
    async announce(changes) {
      const byAccount = await subscriptions.getMany(changes.map((change) => change.message.account));
      const now = clock.now();
      const documents: DeliveryDocument[] = [];
      for (const change of changes) {
        const event = eventName(change.entry);
        const { account, channel } = change.message;
        const endpoints = (byAccount.get(account) ?? []).filter(
          (endpoint) => endpoint.channel === channel && endpoint.events.includes(event),
        );
        if (endpoints.length === 0) continue;
        const body = eventBody(change);
        for (const { _id } of endpoints) documents.push(deliveryOf(change, _id, body, now));
      }
      await insertNew(db, 'deliveries', documents);
    },
  };
}

function deliveryOf(change: StateChange, endpoint: EndpointId, body: string, now: Date): DeliveryDocument {
  const { message, entry } = change;
  const event = eventId(message._id, entry.state);
  return {
    _id: deliveryId(event, endpoint),
    account: message.account,
    endpoint,
    eventId: event,
    event: eventName(entry),
    message: message._id,
    body,
    // Due at the change's own time, so that `sent` is posted before `delivered` even when both are announced at once.
    due: entry.at < now ? entry.at : now,
    state: 'due',
    attempts: [],
    createdAt: now,
  };
}
