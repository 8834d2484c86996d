import type { Db } from 'mongodb';
import type { MessageEventName } from '../../../shared/events/catalogue.ts';
import { type DeliveryDocument, deliveryId } from '../../../shared/events/webhooks/delivery.ts';
import { findDeliveries } from '../../../shared/events/webhooks/delivery-store.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { channelOf } from '../../../shared/messages/channels/channels.ts';
import { itemId } from '../../../shared/messages/chat-inbox-item.ts';
import { pricedStatuses } from '../../../shared/messages/chat-inbox-store.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { Pricing } from '../../../shared/messages/document/chat-message.ts';
import { readMessageLog } from '../../../shared/messages/settlement/log-store.ts';
import type { LogRecord } from '../../../shared/messages/settlement/message-log.ts';
import type { Customer } from '../../../shared/money/conversations/person.ts';
import type { LedgerEntryDocument } from '../../../shared/money/ledger/entry.ts';
import { readEntries } from '../../../shared/money/ledger/store.ts';
import {
  type AccountId,
  eventId,
  idTime,
  liveAccountOf,
  lowestId,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';
import { readAccepted } from './just-accepted.ts';
import { daysFrom } from './search-index.ts';
import { REPEAT_MS } from './shapes.ts';
import { saidOf, type TextRules, type WithText } from './texts.ts';
import type { TextlessMessage } from './view.ts';
import { ALL_VIEWS, viewOf } from './views.ts';

const WITHOUT_TEXT = Object.fromEntries(ALL_VIEWS.flatMap((view) => view.textFields).map((name) => [name, 0]));

/** A delivery of an event of a message. */
type MessageDelivery = Omit<DeliveryDocument, 'body' | 'event'> & { readonly event: MessageEventName };

/** A message with its payment, its refund, its log and its webhook deliveries. */
export interface WholeMessage {
  readonly message: TextlessMessage;
  readonly said: ReturnType<typeof saidOf>;
  /** Who wrote it, or whom it is to, where more than a number is known. */
  readonly customer: Customer | undefined;
  /** The ledger entry that paid for it, perhaps together with others. Undefined where it cost nothing. */
  readonly paid: LedgerEntryDocument | undefined;
  /** Can refund several messages too. */
  readonly refunded: LedgerEntryDocument | undefined;
  readonly deliveries: readonly MessageDelivery[];
  /** Others with the same text to the same number, within a minute. */
  readonly repeats: readonly MessageId[];
  /** The messages that repeat it on demand, the newest last. */
  readonly resends: readonly MessageId[];
  /** What the provider says of the price of a message that is on its way: it is kept with the message when that is delivered. */
  readonly pricing: Pricing | undefined;
  /** The SMS that went in its place. */
  readonly instead: WholeMessage | undefined;
  /** The message log's entries of this message, oldest first. */
  readonly log: readonly LogRecord[];
}

/**
 * Reads a message and everything that belongs to it, each part by an index: the ids of ledger entries and deliveries
 * derive from the message. Undefined when the account has no such message.
 */
export async function readWholeMessage(
  db: Db,
  account: AccountId,
  id: MessageId,
  texts: TextRules,
): Promise<WholeMessage | undefined> {
  const isHidden = texts.sent === 'hidden' && texts.received === 'hidden';
  const message = await readAccepted<TextlessMessage, TextlessMessage>(
    db,
    account,
    id,
    async () => {
      const found = await db
        .collection<AnyMessage>('messages')
        .findOne<TextlessMessage>({ _id: id, account }, isHidden ? { projection: WITHOUT_TEXT } : {});
      return found ?? undefined;
    },
    (unstored) => unstored,
  );
  if (message === undefined) return undefined;
  const { debit, refund } = viewOf(message).payment(message);
  const sms =
    'fallback' in message && message.fallback?.ended?.kind === 'sent' ? message.fallback.ended.message : undefined;
  const [entries, deliveries, log, repeats, resends, pricing, instead, customers] = await Promise.all([
    readEntries(
      db,
      account,
      [debit, refund].filter((change) => change !== undefined),
    ),
    readDeliveries(db, message),
    readMessageLog(db, id),
    debit === undefined ? [] : readRepeats(db, message),
    readResends(db, message),
    readEarlyPricing(db, message),
    sms === undefined ? undefined : readWholeMessage(db, account, sms, texts),
    channelOf(message).customersOf(db, account, [message]),
  ]);
  return {
    message,
    pricing,
    customer: customers.get(id),
    said: saidOf(message as WithText, texts), // what was read has its text, unless that is hidden or removed
    paid: entries.find(({ change }) => change === debit),
    refunded: entries.find(({ change }) => change === refund),
    deliveries,
    log,
    ...{ repeats, resends, instead },
  };
}

async function readEarlyPricing(db: Db, message: TextlessMessage): Promise<Pricing | undefined> {
  const { account, state, parts: [part] = [] } = message;
  if (message.channel !== 'chatapp' || state !== 'sent' || part?.key === undefined) return undefined;
  const id = itemId(account, 'sent', viewOf(message).upstreamId(part.key, account));
  return (await pricedStatuses(db, [id])).at(0)?.what.pricing;
}

/** Messages to a number within two minutes that are looked at: a customer is not written to more often. */
const LOOKED_MAX = 100;

/** Whether somebody was charged twice for the same: a question that customers ask. Texts are compared here and shown nowhere. */
async function readRepeats(db: Db, { _id, account, to, channel }: TextlessMessage): Promise<readonly MessageId[]> {
  if (channel !== 'sms') return [];
  const atMs = idTime(_id).getTime();
  const range = { $gte: lowestId('msg', new Date(atMs - REPEAT_MS)), $lt: lowestId('msg', new Date(atMs + REPEAT_MS)) };
  const near = await db
    .collection<AnyMessage>('messages')
    .find({ account, day: { $in: [...daysFrom(range.$gte, range.$lt)] }, to, _id: range })
    .limit(LOOKED_MAX)
    .project<{ readonly _id: MessageId; readonly text?: string }>({ text: 1 })
    .toArray();
  const text = near.find((one) => one._id === _id)?.text;
  return text === undefined ? [] : near.flatMap((one) => (one._id !== _id && one.text === text ? [one._id] : []));
}

async function readResends(db: Db, message: TextlessMessage): Promise<readonly MessageId[]> {
  if (!('resentAs' in message)) return [];
  const { account, resentAs = [] } = message;
  const stored = (_id: MessageId) =>
    db
      .collection<AnyMessage>('messages')
      .findOne<Pick<AnyMessage, '_id'>>({ _id, account }, { projection: { _id: 1 } });
  const found = await Promise.all(
    resentAs.map((id) =>
      readAccepted<Pick<AnyMessage, '_id'>, Pick<AnyMessage, '_id'>>(
        db,
        account,
        id,
        async () => (await stored(id)) ?? undefined,
        (unstored) => unstored,
      ),
    ),
  );
  return found.flatMap((one) => one?._id ?? []);
}

/**
 * The deliveries of all events of the message to all endpoints of the account: at most five events to ten endpoints.
 */
async function readDeliveries(db: Db, { _id, account, history }: TextlessMessage): Promise<readonly MessageDelivery[]> {
  if (history.length === 0) return [];
  const endpoints = await db
    .collection<EndpointDocument>('endpoints')
    .find({ account: liveAccountOf(account) })
    .project<Pick<EndpointDocument, '_id'>>({ _id: 1 })
    .toArray();
  const ids = history.flatMap(({ state }) =>
    endpoints.map((endpoint) => deliveryId(eventId(_id, state), endpoint._id)),
  );
  // The ids are of events of the message.
  return (await findDeliveries(db, ids, { bodies: false })) as readonly MessageDelivery[];
}
