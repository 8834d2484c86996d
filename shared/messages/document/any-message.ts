import type { ChatMessageDocument, InboundMessageDocument } from './chat-message.ts';
import type { InboundSmsDocument } from './inbound-sms.ts';
import type { MessageDocument } from './message.ts';

/** Any document of the collection `messages`. */
export type AnyMessage = MessageDocument | InboundSmsDocument | ChatMessageDocument | InboundMessageDocument;
