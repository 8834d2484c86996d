import type { Route } from '../messages/document/message.ts';
import type { SenderId } from '../platform/runtime/ids.ts';
import type { Registration } from './registration-store.ts';

/** A sender id registered to an account for some routes. Its place is among what the account asked for and nobody approved. */
export interface SenderDocument extends Registration {
  readonly _id: SenderId;
  /** As it goes on the wire (source_addr): bare, without an operator's prefix or suffix. */
  readonly sender: string;
  readonly routes: readonly Route[];
}

/**
 * What a sender id must be to be sent at all: 3 to 15 digits, or 1 to 11 characters with a letter among them. Those are letters, digits,
 * and the signs that are the same octet in ASCII (SMPP 3.4 §5.2.8 source_addr) and in the GSM default alphabet (TS 23.038 §6.2.1), so
 * that no carrier shows another sender. `_` is the one exception, because it is in use. `@` is excluded: in the GSM alphabet it is octet
 * 0, which ends a C-octet string. No space at either end: it would get lost. Spec gap: format checks are not shown; see
 * docs/specification/decisions.md, Requests.
 */
export const SENDER_FORM = /^(?:[0-9]{3,15}|(?=.*[A-Za-z])(?! )[A-Za-z0-9 !"#%&'()*+,./:;<=>?_-]{1,11}(?<! ))$/;

export function isSenderForm(sender: string): boolean {
  return SENDER_FORM.test(sender);
}
