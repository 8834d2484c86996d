import type { AccountId, CallbackId } from '../runtime/ids.ts';

/**
 * An account's business number on the chat-app channel and how to reach its provider, which speaks the WhatsApp Cloud API's
 * shapes. One per account; workers pick changes up within seconds.
 */
export interface ProviderDocument {
  readonly _id: AccountId;
  readonly status: 'active' | 'paused';
  /** Up to and including the version: `https://graph.example/v23.0`. */
  readonly baseUrl: string;
  readonly phoneNumberId: string;
  /** Of the business (WABA): its templates are listed below it. */
  readonly businessId: string;
  /** Digits: the `to` of what customers write. */
  readonly displayNumber: string;
  /** Sealed by the secret box: the access token, and what signs callbacks. */
  readonly token: string;
  readonly appSecret: string;
  /** What the provider must say at its verify challenge. Sealed too. */
  readonly verifyToken: string;
  /** Last part of the address that the provider posts to: `/chatapp/callback/<callback>`. */
  readonly callback: CallbackId;
  /** Messages a second; 80 for a usual number. */
  readonly perSecond: number;
  /** Sends in flight at a time. */
  readonly windowSize: number;
  /** Least time between two messages to one customer, in milliseconds. */
  readonly perCustomerMs: number;
  /** For one send as a whole. */
  readonly timeoutMs: number;
  /** `list`: templates go only to customers on the account's opt-in list. */
  readonly optIn: 'off' | 'list';
  /**
   * What becomes of a send whose answer never came, after `unknownWaitMs`. `assume_sent`: it counts as sent; its price: what never left
   * is charged and never arrives. `resend`: it is sent again, and may arrive twice.
   */
  readonly unknownPolicy: 'assume_sent' | 'resend';
  readonly unknownWaitMs: number;
  /** Why it was stopped: the provider said that token, number or account are not allowed; `provider resume` starts it again. */
  readonly stoppedReason?: string;
  /** What does not work just now and is tried again: each is unset by a success. */
  readonly troubles?: { readonly [What in ProviderDuty]?: ProviderTrouble };
  readonly createdAt: Date;
}

/** What a worker does with a provider: copy its templates, send messages. */
export type ProviderDuty = 'templates' | 'sends';

export interface ProviderTrouble {
  /** When it was met last. */
  readonly at: Date;
  /** For the operator; has neither secrets nor numbers of customers. */
  readonly reason: string;
}

export const PROVIDER_DEFAULTS = {
  status: 'active',
  perSecond: 80,
  windowSize: 20,
  perCustomerMs: 0,
  timeoutMs: 10_000,
  optIn: 'off',
  unknownPolicy: 'assume_sent',
  unknownWaitMs: 900_000,
} as const satisfies Partial<ProviderDocument>;
