import type { AccountId, EndpointId } from '../runtime/ids.ts';

/** Events of the SMS channel ("Event kinds"). */
export const SMS_EVENTS = [
  'message.sent',
  'message.delivered',
  'message.failed',
  'message.expired',
  'message.rejected',
] as const;
export type SmsEvent = (typeof SMS_EVENTS)[number];

/** An address that an account's events are posted to. */
export interface EndpointDocument {
  readonly _id: EndpointId;
  readonly account: AccountId;
  readonly channel: 'sms';
  readonly url: string;
  readonly events: readonly SmsEvent[];
  /** Sealed `whsec_…` secrets; the first signs, the others sign too until they expire (rotation). */
  readonly secrets: readonly { readonly sealed: string; readonly expiresAt?: Date }[];
  readonly status: 'active' | 'disabled';
  readonly disabledReason?: string;
  /** Since when every post failed; unset by a success. Five days of only failures disable the endpoint. */
  readonly failingSince?: Date;
  readonly createdAt: Date;
}
