import { giveBackRefused } from '../../money/conversations/give-back.ts';
import { readCustomerRecords } from '../../money/conversations/person.ts';
import type { ChatMessageDocument, InboundMessageDocument } from '../document/chat-message.ts';
import { ERASED } from '../document/recipient.ts';
import type { Channel } from './channel.ts';

/** There is only one possible name: the account's provider delivers everything. */
export const CHAT_OPERATOR = 'chatapp';

export const chatapp: Channel<ChatMessageDocument | InboundMessageDocument> = {
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
    const records = await readCustomerRecords(
      db,
      account,
      named.map(({ customer }) => customer),
    );
    return new Map(
      named.flatMap(({ _id, customer }) => {
        const record = records.get(customer);
        return record === undefined ? [] : [[_id, record]];
      }),
    );
  },
  // The conversation is what is paid for, not the message. What customers write costs nothing.
  refund: (db, messages) =>
    giveBackRefused(
      db,
      messages.filter((message) => message.direction === 'out'),
    ),
};
