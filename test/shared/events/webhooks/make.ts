import type { Collection, Db } from 'mongodb';
import { type DeliveryDocument, type DeliveryGroup, deliveryId } from '../../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { eventId, idDay, newId } from '../../../../shared/platform/runtime/ids.ts';

export function makeMessage(override: Partial<MessageDocument>): MessageDocument {
  const _id = override._id ?? newId('msg');
  return {
    _id,
    day: idDay(_id),
    channel: 'sms',
    account: 'acc_1',
    group: 'grp_1',
    to: '919876543210',
    sender: 'HARKARA',
    route: 'transactional',
    path: 'transactional',
    lane: 1,
    text: 'hello',
    encoding: 'GSM7',
    segments: 1,
    state: 'sent',
    v: 2,
    validUntil: new Date('2026-11-23T00:00:00Z'),
    tries: 0,
    history: [],
    ...override,
  };
}

/** Beyond the product's places, so that inserted and registered endpoints never collide. */
let nextPlace = 1_000;

export function makeEndpoint(override: Partial<EndpointDocument>): EndpointDocument {
  return {
    _id: newId('whk'),
    account: 'acc_1',
    channel: 'sms',
    url: 'https://hooks.example/',
    place: nextPlace++,
    events: ['message.sent', 'message.delivered', 'message.failed', 'message.expired', 'message.rejected'],
    secrets: [],
    status: 'active',
    createdAt: new Date('2026-11-01T00:00:00Z'),
    ...override,
  };
}

/** A delivery of a new event, due unless a state is given. */
export function makeDelivery(
  override: Partial<DeliveryDocument> & Pick<DeliveryDocument, 'endpoint'>,
): DeliveryDocument {
  const event = override.eventId ?? newId('evt');
  return {
    _id: deliveryId(event, override.endpoint),
    account: 'acc_1',
    eventId: event,
    event: 'message.sent',
    message: newId('msg'),
    body: `{"event":"message.sent","n":"${event}"}`,
    ...(override.state === undefined ? { due: new Date('2026-11-21T00:00:00Z') } : {}),
    state: 'due',
    attempts: [],
    createdAt: new Date('2026-11-21T00:00:00Z'),
    ...override,
  };
}

export function groupsOf(db: Db): Collection<DeliveryGroup> {
  return db.collection('deliveries');
}

/** Events of new messages, due in one document. */
export function makeGroup(
  override: Partial<DeliveryGroup> & Pick<DeliveryGroup, 'endpoint'>,
  size: number,
): DeliveryGroup {
  const items = Array.from({ length: size }, () => {
    const id = eventId(newId('msg'), 'sent');
    return { eventId: id, event: 'message.sent', body: `{"event":"message.sent","n":"${id}"}` } as const;
  });
  return {
    _id: `${deliveryId(items[0]?.eventId ?? newId('evt'), override.endpoint)}:${size}`,
    account: 'acc_1',
    items,
    ...(override.state === undefined ? { due: new Date('2026-11-21T00:00:00Z') } : {}),
    state: 'due',
    attempts: [],
    createdAt: new Date('2026-11-21T00:00:00Z'),
    ...override,
  };
}

/** A value that the test knows to be present. */
export function present<T>(value: T | null | undefined | false): T {
  if (value === undefined || value === null || value === false) throw new Error('nothing there');
  return value;
}
