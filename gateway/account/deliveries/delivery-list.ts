import type { Db } from 'mongodb';
import type { EventName } from '../../../shared/events/catalogue.ts';
import { FAILED_STATES } from '../../../shared/mongo/webhook-indexes.ts';
import type { EndpointId, MessageId } from '../../../shared/runtime/ids.ts';
import type { DeliveryDocument, DeliveryId, DeliveryState } from '../../../shared/webhooks/delivery.ts';
import { deliveriesOf } from '../../../shared/webhooks/delivery-store.ts';

export interface DeliveryFilter {
  readonly event?: EventName | undefined;
  readonly state?: DeliveryState | undefined;
  readonly message?: MessageId | undefined;
}

/** A delivery without its body, its attempts without what was answered. */
export type ListedDelivery = Omit<DeliveryDocument, 'body'>;

const LISTED_FIELDS = Object.fromEntries(
  [
    ...['account', 'endpoint', 'eventId', 'event', 'message', 'state', 'retryAt', 'replayedAt', 'createdAt'],
    ...['attempts.at', 'attempts.result', 'attempts.durationMs'],
  ].map((name) => [name, 1]),
);

/**
 * The most deliveries that one call looks at when no index has what it filters by: the event, and the states of those that did not
 * fail. As with messages, a page may have fewer entries than asked for, even none, and still say where to continue.
 */
export const DELIVERY_WALK_MAX = 1_000;

/**
 * Up to `limit` deliveries of an endpoint, those of the newest messages first, below `after`. Every query is one backward walk
 * along an index; those that failed have an index of their own, and a message is a range of ids.
 */
export async function listDeliveries(
  db: Db,
  endpoint: EndpointId,
  { event, state, message }: DeliveryFilter,
  after: DeliveryId | undefined,
  limit: number,
): Promise<{ readonly deliveries: readonly ListedDelivery[]; readonly next: DeliveryId | undefined }> {
  const failed = state === 'due' || state === 'done' ? undefined : state;
  const index = failed === undefined ? 'log' : FAILED_STATES[failed];
  const walked = { endpoint, ...(failed && { state: failed }) };
  const range = idRange(message, after);
  const wanted = { ...(event && { event }), ...(state && failed === undefined && { state }) };
  const from = Object.keys(wanted).length > 0 ? await walkEnd(db, { ...walked, ...range }, index) : undefined;
  const found = await deliveriesOf(db)
    .find({ ...walked, ...wanted, ...(from === undefined ? range : { _id: { ...range._id, $gte: from } }) })
    .sort({ _id: -1 })
    .hint(index)
    .limit(limit + 1)
    .project<ListedDelivery>(LISTED_FIELDS)
    .toArray();
  if (found.length <= limit) return { deliveries: found, next: from };
  const page = found.slice(0, limit);
  return { deliveries: page, next: page.at(-1)?._id };
}

/** The last delivery that this call looks at. Undefined when the walk comes to the end. */
async function walkEnd(db: Db, walked: object, index: string): Promise<DeliveryId | undefined> {
  const [last, more] = await deliveriesOf(db)
    .find(walked)
    .sort({ _id: -1 })
    .hint(index)
    .skip(DELIVERY_WALK_MAX - 1)
    .limit(2)
    .project<Pick<DeliveryDocument, '_id'>>({ _id: 1 })
    .toArray();
  return more === undefined ? undefined : last?._id;
}

interface IdRange {
  readonly _id?: { readonly $gte?: DeliveryId; readonly $lt?: DeliveryId };
}

/** Ids begin with those of their events, which have that of their message. Nothing of an id sorts behind `~`. */
function idRange(message: MessageId | undefined, after: DeliveryId | undefined): IdRange {
  if (message === undefined) return after === undefined ? {} : { _id: { $lt: after } };
  const stem = `evt_${message.slice('msg_'.length)}_`;
  const [first, end] = [stem, `${stem}~`] as DeliveryId[]; // only compared with
  const $lt = after !== undefined && end !== undefined && after < end ? after : end;
  return { _id: { ...(first && { $gte: first }), ...($lt && { $lt }) } };
}
