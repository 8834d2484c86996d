import type { AccountId, EndpointId } from '../../platform/runtime/ids.ts';
import type { EventChannel, EventName } from '../catalogue.ts';

export interface EndpointSecret {
  readonly sealed: string;
  /** Absent: the newest. */
  readonly expiresAt?: Date;
  /** The API request that added it by a rotation. */
  readonly request?: string;
}

/** An address that an account's events are posted to. */
export interface EndpointDocument {
  readonly _id: EndpointId;
  readonly account: AccountId;
  /** Only events of this channel are posted to it. */
  readonly channel: EventChannel;
  readonly url: string;
  /** Its place among the account's endpoints (platform/mongo/places.ts). */
  readonly place: number;
  readonly events: readonly EventName[];
  /** Sealed `whsec_…` secrets. All of them sign; older ones expire after a rotation. */
  readonly secrets: readonly EndpointSecret[];
  readonly status: 'active' | 'disabled';
  readonly disabledReason?: string;
  /** Since when every post has failed; unset by a success. Five days of only failures disable the endpoint. */
  readonly failingSince?: Date;
  /** The API request that created it. Repeated, that request gets the same answer. */
  readonly registration?: string;
  readonly createdAt: Date;
  /** When it was last enabled, or got an event that it had not. Absent: when it was created. */
  readonly subscribedSince?: Date;
}

/** A limit, because each event becomes one delivery per endpoint. */
export const ENDPOINTS_PER_ACCOUNT = 10;
