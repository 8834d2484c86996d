import type { Db } from 'mongodb';
import type { LedgerEntryDocument } from '../credits/ledger-entry.ts';
import { ledgerCollection } from '../credits/ledger-store.ts';
import { type AccountId, eventId, type MessageId } from '../runtime/ids.ts';
import { type DeliveryDocument, deliveryId } from '../webhooks/delivery.ts';
import { deliveriesOf } from '../webhooks/delivery-store.ts';
import type { EndpointDocument } from '../webhooks/endpoint.ts';
import { readMessageLog } from './log-store.ts';
import type { MessageDocument } from './message.ts';
import type { LogRecord } from './message-log.ts';

/** A message, what was paid for it and given back, and what its webhooks came to. */
export interface WholeMessage {
  readonly message: Omit<MessageDocument, 'text'>;
  /** The debit of its group; undefined for the moment that it takes to enter it. */
  readonly paid: LedgerEntryDocument | undefined;
  /** Perhaps of many messages, as `paid`. */
  readonly refunded: LedgerEntryDocument | undefined;
  readonly deliveries: readonly Omit<DeliveryDocument, 'body'>[];
  /** What was logged of it, oldest first. */
  readonly log: readonly LogRecord[];
}

/**
 * Reads a message with all that follows from it, each by an index: the ledger's changes and the deliveries have ids that
 * derive from the message. Undefined when there is no such message, or it is another account's.
 */
export async function readWholeMessage(db: Db, account: AccountId, id: MessageId): Promise<WholeMessage | undefined> {
  const message = await db
    .collection<MessageDocument>('messages')
    .findOne<Omit<MessageDocument, 'text'>>({ _id: id, account }, { projection: { text: 0 } });
  if (message === null) return undefined;
  const refund = message.refund ?? (`ref_${id}` as const);
  const [entries, deliveries, log] = await Promise.all([
    ledgerCollection(db)
      .find({ account, change: { $in: [message.group, refund] } })
      .toArray(),
    readDeliveries(db, message),
    readMessageLog(db, id),
  ]);
  return {
    message,
    paid: entries.find(({ change }) => change === message.group),
    refunded: entries.find(({ change }) => change === refund),
    deliveries,
    log,
  };
}

/** Of every event of the message for every endpoint that the account has: five events for ten endpoints at most. */
async function readDeliveries(
  db: Db,
  { _id, account, history }: Omit<MessageDocument, 'text'>,
): Promise<readonly Omit<DeliveryDocument, 'body'>[]> {
  if (history.length === 0) return [];
  const endpoints = await db
    .collection<EndpointDocument>('endpoints')
    .find({ account })
    .project<Pick<EndpointDocument, '_id'>>({ _id: 1 })
    .toArray();
  const ids = history.flatMap(({ state }) =>
    endpoints.map((endpoint) => deliveryId(eventId(_id, state), endpoint._id)),
  );
  return deliveriesOf(db)
    .find({ _id: { $in: ids } })
    .project<Omit<DeliveryDocument, 'body'>>({ body: 0 })
    .toArray();
}
