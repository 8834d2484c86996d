import { giveBackRefused } from '../../money/conversations/give-back.ts';
import type { ChatMessageDocument, InboundMessageDocument } from '../document/chat-message.ts';
import type { Channel } from './channel.ts';

/** There is only one possible name: the account's provider delivers everything. */
export const CHAT_OPERATOR = 'chatapp';

export const chatapp: Channel<ChatMessageDocument | InboundMessageDocument> = {
  partsOf: () => 1,
  deliveredBy: () => CHAT_OPERATOR,
  eventMembers: (message) => (message.direction === 'in' ? {} : { conversation_id: message.conversation }),
  // The conversation is what is paid for, not the message. What customers write costs nothing.
  refund: (db, messages) =>
    giveBackRefused(
      db,
      messages.filter((message) => message.direction === 'out'),
    ),
};
