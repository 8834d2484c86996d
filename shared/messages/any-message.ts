import type { ChatMessageDocument, InboundMessageDocument } from './chat-message.ts';
import type { MessageDocument } from './message.ts';

/** Whatever the collection `messages` holds. */
export type AnyMessage = MessageDocument | ChatMessageDocument | InboundMessageDocument;
