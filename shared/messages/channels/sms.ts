import { refundMessages } from '../../money/ledger/refund.ts';
import type { InboundSmsDocument } from '../document/inbound-sms.ts';
import type { MessageDocument } from '../document/message.ts';
import type { Channel } from './channel.ts';

export const sms: Channel<MessageDocument | InboundSmsDocument> = {
  partsOf: (message) => ('segments' in message ? message.segments : 1),
  deliveredBy: ({ claim }) => claim?.carrier ?? 'unknown',
  // Members of received messages only: an account may have several numbers, and both channels.
  eventMembers: (message) =>
    'inbound' in message ? { to: message.to, channel: message.channel, opt_out: message.optOut } : {},
  customersOf: async () => new Map(),
  // Received messages cost nothing, so nothing is refunded.
  refund: (db, messages) =>
    refundMessages(
      db,
      messages.flatMap((message) => ('inbound' in message ? [] : [message])),
    ),
};
