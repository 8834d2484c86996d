import type { ChatMessageDocument, InboundContent, InboundMessageDocument } from './chat-message.ts';
import type { MessageDocument, StoredMessage } from './message.ts';

/** Any document of the collection `messages`. */
export type AnyMessage = MessageDocument | InboundSmsDocument | ChatMessageDocument | InboundMessageDocument;

/**
 * An SMS from a handset to a number of the account (shared/carriers/numbers). Always `received`. Its id derives from
 * the deliver_sm that brought it. `to`: the account's number. Costs nothing.
 */
export interface InboundSmsDocument extends StoredMessage {
  readonly channel: 'sms';
  readonly direction: 'in';
  readonly state: 'received';
  /** Digits with the country code. A short code or a name is stored as the carrier wrote it. */
  readonly from: string;
  readonly carrier: string;
  /** `text`; or `binary` if unreadable: `body` is then base64, and `more` has the carrier's data_coding. */
  readonly inbound: InboundContent;
  /** The customer's wish (carriers/opt-outs/words.ts). `near`: it changed nothing. */
  readonly optOut?: 'out' | 'in' | 'help' | 'near';
}
