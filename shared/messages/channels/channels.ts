import type { Db } from 'mongodb';
import { giveBackRefused } from '../../money/conversations/charge.ts';
import { type Customer, customerOf, readPersons } from '../../money/conversations/person.ts';
import { refundMessages } from '../../money/ledger/change.ts';
import type { AccountId, MessageId } from '../../platform/runtime/ids.ts';
import type { AnyMessage, InboundSmsDocument } from '../document/any-message.ts';
import { CHANNEL_NAMES, type ChannelName } from '../document/channel.ts';
import type { ChatMessageDocument, InboundMessageDocument } from '../document/chat-message.ts';
import type { MessageDocument } from '../document/message.ts';
import { ERASED } from '../document/recipient.ts';

/** One name for all: the account's provider delivers everything. */
export const CHAT_OPERATOR = 'chatapp';

const chatapp: Channel<ChatMessageDocument | InboundMessageDocument> = {
  partsOf: () => 1,
  deliveredBy: () => CHAT_OPERATOR,
  eventMembers: (message) =>
    message.direction === 'in'
      ? { to: message.to, reply_to: message.replyTo?.message }
      : { conversation_id: message.conversation, from: message.from },
  async customersOf(db, account, messages) {
    const named = messages.flatMap(({ _id, direction, from, to }) => {
      const customer = direction === 'in' ? from : to;
      return typeof customer === 'string' && customer !== ERASED ? [{ _id, customer }] : [];
    });
    const persons = await readPersons(
      db,
      account,
      named.map(({ customer }) => customer),
    );
    return new Map(
      named.flatMap(({ _id, customer }) => {
        const person = persons.get(customer);
        return person === undefined ? [] : [[_id, customerOf(account, person)]];
      }),
    );
  },
  // The conversation is paid for, not the message. Customers' messages cost nothing.
  refund: (db, messages) =>
    giveBackRefused(
      db,
      messages.filter((message) => message.direction === 'out'),
    ),
};

const sms: Channel<MessageDocument | InboundSmsDocument> = {
  partsOf: (message) => ('segments' in message ? message.segments : 1),
  deliveredBy: ({ claim }) => claim?.carrier ?? 'unknown',
  // For received messages only: an account may have several numbers, and both channels.
  eventMembers: (message) =>
    'inbound' in message ? { to: message.to, channel: message.channel, opt_out: message.optOut } : {},
  customersOf: async () => new Map(),
  // Received messages cost nothing.
  refund: (db, messages) =>
    refundMessages(
      db,
      messages.flatMap((message) => ('inbound' in message ? [] : [message])),
    ),
};

/** In the order of lists. */
const CHANNELS = { sms, chatapp } as const satisfies Readonly<Record<ChannelName, object>>;

export function channelOf({ channel }: Pick<AnyMessage, 'channel'>): Channel<AnyMessage> {
  return CHANNELS[channel];
}

/** Refunds those of these messages that were never taken. May be repeated after a crash. */
export async function refundByChannel(db: Db, messages: readonly AnyMessage[]): Promise<void> {
  for (const name of CHANNEL_NAMES) {
    const own = messages.filter((message) => message.channel === name);
    if (own.length > 0) await channelOf({ channel: name }).refund(db, own);
  }
}

type Addressed = Pick<AnyMessage, '_id' | 'to'> & {
  readonly direction?: 'in' | 'out';
  readonly from?: string | null;
};

/**
 * What settlement and events need to know about a message's channel. Accepting and sending are in gateway/<channel> and
 * in its worker; what the API shows: gateway/endpoints/messages/views.ts.
 */
export interface Channel<Message extends AnyMessage> {
  /** Parts in one submit. Each is answered, and reported on later, by itself. */
  partsOf(message: Message): number;
  /** The `operator` in events of a delivered message when the network is not known. */
  deliveredBy(message: Message): string;
  /** Members of its events beyond those of all channels. */
  eventMembers(message: Message): Readonly<Record<string, string | undefined>>;
  /** The customers of messages; empty where only numbers are known. One read, or two for several names. */
  customersOf(db: Db, account: AccountId, messages: readonly Addressed[]): Promise<ReadonlyMap<MessageId, Customer>>;
  /** Refunds those that ended and were certainly never taken, each once. All are of this channel. */
  refund(db: Db, messages: readonly Message[]): Promise<void>;
}
