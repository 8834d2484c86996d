import type { Db, Filter } from 'mongodb';
import { type EventName, MESSAGE_EVENT_NAMES, stateOf } from '../../../shared/events/catalogue.ts';
import {
  type DeliveryDocument,
  type DeliveryId,
  type DeliveryState,
  deliveriesIn,
  deliveryId,
  type Stored,
} from '../../../shared/events/webhooks/delivery.ts';
import { deliveriesOf, findDeliveries } from '../../../shared/events/webhooks/delivery-store.ts';
import { FAILED_STATES } from '../../../shared/platform/mongo/indexes.ts';
import { type EndpointId, eventId, type MessageId } from '../../../shared/platform/runtime/ids.ts';

export interface DeliveryFilter {
  readonly event?: EventName | undefined;
  readonly state?: DeliveryState | undefined;
  readonly message?: MessageId | undefined;
}

/** A delivery without its body, its attempts without what was answered. */
export type ListedDelivery = Omit<DeliveryDocument, 'body'>;

/** Where a page ended: a document, and the last delivery of it that was looked at: `<_id>/<delivery>`. */
export type Place = `${Stored['_id']}/${DeliveryId}`;

export function isPlace(text: string): text is Place {
  return /^evt_[0-9a-z_]{1,100}:whk_[0-9a-f]{26}(:\d{1,3})?\/evt_[0-9a-z_]{1,100}:whk_[0-9a-f]{26}$/.test(text);
}

export interface DeliveryPage {
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
 * The most deliveries that one call looks at when no index has what it filters by: the event, and the states of those that did not
 * fail. As with messages, a page may have fewer entries than asked for, even none, and still say where to continue.
 */
export const DELIVERY_WALK_MAX = 1_000;
/** Documents of one read: each may be a group. */
const READ_TOGETHER = 50;

/**
 * Up to `limit` deliveries of an endpoint, behind `after`. Newest messages first; of those that were announced together, the whole
 * group has its place by one of them. A walk backward along an index; those that failed have an index of their own, and the deliveries
 * of a message have known ids.
 */
export async function listDeliveries(
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

/** The deliveries of the next documents, in order. Undefined where an item of a group has a document of its own. */
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
