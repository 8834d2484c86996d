import { refundMessages } from '../ledger/refund.ts';
import type { MessageDocument } from '../messages/message.ts';
import type { Channel } from './channel.ts';

export const sms: Channel<MessageDocument> = {
  partsOf: ({ segments }) => segments,
  deliveredBy: ({ claim }) => claim?.carrier ?? 'unknown',
  eventMembers: () => ({}),
  refund: refundMessages,
};
