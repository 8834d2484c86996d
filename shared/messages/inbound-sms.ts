import type { InboundContent } from './chat-message.ts';
import type { StoredMessage } from './message.ts';

/**
 * An SMS from a handset to a number of the account (shared/numbers). It is stored in its only state, `received`; its id derives from
 * the deliver_sm that brought it. `to` is the account's number. It costs nothing.
 */
export interface InboundSmsDocument extends StoredMessage {
  readonly channel: 'sms';
  readonly direction: 'in';
  readonly state: 'received';
  /** Digits with the country code; a short code or a name as the carrier wrote it. */
  readonly from: string;
  /** The carrier that brought it. */
  readonly carrier: string;
  /** `text`; or `binary` when it cannot be read: then the body is base64, and `more` has the carrier's data_coding. */
  readonly inbound: InboundContent;
  /** What it says of the customer's wish for messages (opt-outs/sign.ts). `near`: nothing followed from it. */
  readonly optOut?: 'out' | 'in' | 'help' | 'near';
}
