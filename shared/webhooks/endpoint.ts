import type { EventName } from '../events/catalogue.ts';
import type { ChannelName } from '../messages/message.ts';
import type { AccountId, EndpointId } from '../runtime/ids.ts';

/** An address that an account's events are posted to. */
export interface EndpointDocument {
  readonly _id: EndpointId;
  readonly account: AccountId;
  /** Events of this channel only are posted to it. */
  readonly channel: ChannelName;
  readonly url: string;
  /** Which of the account's places it has (endpoint-places.ts). One of an earlier version gets its own when another is registered. */
  readonly place?: number;
  readonly events: readonly EventName[];
  /** Sealed `whsec_…` secrets; the first signs, the others sign too until they expire (rotation). */
  readonly secrets: readonly { readonly sealed: string; readonly expiresAt?: Date }[];
  readonly status: 'active' | 'disabled';
  readonly disabledReason?: string;
  /** Since when every post failed; unset by a success. Five days of only failures disable the endpoint. */
  readonly failingSince?: Date;
  /** The request that made it, when that came over the API: it gets the same answer again, by this. */
  readonly registration?: string;
  readonly createdAt: Date;
}
