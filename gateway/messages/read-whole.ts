import type { Db } from 'mongodb';
import type { ChangeId } from '../../shared/accounts/account.ts';
import type { LedgerEntryDocument } from '../../shared/ledger/entry.ts';
import { readEntries } from '../../shared/ledger/statement.ts';
import type { AnyMessage } from '../../shared/messages/any-message.ts';
import type {
  ChatContent,
  ChatMessageDocument,
  InboundContent,
  InboundMessageDocument,
  MediaType,
} from '../../shared/messages/chat-message.ts';
import type { MessageDocument } from '../../shared/messages/message.ts';
import { type AccountId, eventId, type MessageId } from '../../shared/runtime/ids.ts';
import { readMessageLog } from '../../shared/settlement/log-store.ts';
import type { LogRecord } from '../../shared/settlement/message-log.ts';
import { type DeliveryDocument, deliveryId } from '../../shared/webhooks/delivery.ts';
import { deliveriesOf } from '../../shared/webhooks/delivery-store.ts';
import type { EndpointDocument } from '../../shared/webhooks/endpoint.ts';

/** A message of any channel without what was written in it. */
export type UnreadMessage = Omit<MessageDocument, 'text'> | UnreadChatMessage | UnreadInboundMessage;

export type UnreadChatMessage = Omit<ChatMessageDocument, 'content'> & {
  readonly content: {
    readonly kind: ChatContent['kind'];
    readonly type?: MediaType;
    /** Of a template. */
    readonly name?: string;
    readonly language?: string;
  };
};

export type UnreadInboundMessage = Omit<InboundMessageDocument, 'inbound'> & {
  readonly inbound: Pick<InboundContent, 'type'>;
};

/** From a customer. */
export function isInbound(message: UnreadMessage): message is UnreadInboundMessage {
  return message.channel === 'chatapp' && message.direction === 'in';
}

const WITHOUT_TEXT = {
  text: 0,
  ...{ 'content.text': 0, 'content.body': 0, 'content.buttons': 0, 'content.params': 0 },
  ...{ 'content.url': 0, 'content.caption': 0, 'inbound.body': 0, 'inbound.more': 0 },
};

/** A message, what was paid for it and given back, and what its webhooks came to. */
export interface WholeMessage {
  readonly message: UnreadMessage;
  /** The debit of its group; undefined where it cost nothing. */
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
    .collection<AnyMessage>('messages')
    .findOne<UnreadMessage>({ _id: id, account }, { projection: WITHOUT_TEXT });
  if (message === null) return undefined;
  const { debit, refund } = changesOf(message);
  const [entries, deliveries, log] = await Promise.all([
    readEntries(
      db,
      account,
      [debit, refund].filter((change) => change !== undefined),
    ),
    readDeliveries(db, message),
    readMessageLog(db, id),
  ]);
  return {
    message,
    paid: entries.find(({ change }) => change === debit),
    refunded: entries.find(({ change }) => change === refund),
    deliveries,
    log,
  };
}

/** Ids of the ledger entries of what it cost and got back, if it did; absent for what costs nothing (ledger/change.ts). */
function changesOf(message: UnreadMessage): { readonly debit?: ChangeId; readonly refund?: ChangeId } {
  if (message.channel === 'sms') return { debit: message.group, refund: message.refund ?? `ref_${message._id}` };
  if (isInbound(message) || message.opened === undefined) return {};
  return { debit: message.opened.group, refund: `ref_${message.conversation}` };
}

/** Of every event of the message for every endpoint that the account has: five events for ten endpoints at most. */
async function readDeliveries(
  db: Db,
  { _id, account, history }: UnreadMessage,
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
