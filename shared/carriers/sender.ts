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
