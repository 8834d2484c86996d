import type { BusinessNumber } from '../../messages/document/chat-message.ts';
import type { AccountId, CallbackId } from '../../platform/runtime/ids.ts';

/**
 * A business number of an account on the chat-app channel, and how to reach its provider, an API in the WhatsApp Cloud API's
 * shapes. An account may have several, of one or several business accounts; a number belongs to one account. Workers see changes
 * within seconds.
 */
export interface ProviderDocument {
  /** The number, digits. Messages name it: as `from` of those that leave, as `to` of customers'. */
  readonly _id: BusinessNumber;
  readonly account: AccountId;
  readonly status: 'active' | 'paused';
  /** Base address up to and including the version: `https://graph.example/v23.0`. */
  readonly baseUrl: string;
  /** The provider's id of the number. No two numbers have the same: callbacks name it. */
  readonly phoneNumberId: string;
  /** Id of the business account (WABA); its templates are listed below it. */
  readonly businessId: string;
  /** Id of the provider's app. Only templates with a file in their header need it: their sample is uploaded to the app. */
  readonly appId?: string;
  /** Sealed by the secret box: the access token, and the app secret that signs callbacks. */
  readonly token: string;
  readonly appSecret: string;
  /** The token that the provider must present in its verify challenge. Sealed too. */
  readonly verifyToken: string;
  /** Last part of the address that the provider posts to: `/chatapp/callback/<callback>`. */
  readonly callback: CallbackId;
  /** Messages a second; 80 for a usual number. */
  readonly perSecond: number;
  /** Most sends in flight at a time. The usual rate needs 80 if an answer takes a second. */
  readonly windowSize: number;
  /** Least time between two messages to one customer, in milliseconds. */
  readonly perCustomerMs: number;
  /** Time limit of one send as a whole. */
  readonly timeoutMs: number;
  /** `list`: templates go only to customers on the account's opt-in list. */
  readonly optIn: 'off' | 'list';
  /**
   * What happens to a send that is still unanswered after `unknownWaitMs`. `assume_sent`: it counts as sent; a message that never
   * left is then charged and never arrives. `resend`: it is sent again and may arrive twice.
   */
  readonly unknownPolicy: 'assume_sent' | 'resend';
  readonly unknownWaitMs: number;
  /**
   * Why it was stopped: the provider does not allow token, number or account. Our code, a colon, and the provider's words:
   * `provider_payment_problem: (131042) …`. `provider resume` starts it again.
   */
  readonly stoppedReason?: string;
  /**
   * When the provider is asked whether the cause is gone: of a cause that ends at the provider without anybody here
   * (error-table.ts). `tries`: how often it was found that it is not.
   */
  readonly probe?: { readonly at: Date; readonly tries: number };
  /** The reason for which it was stopped, while it is tried again: one message at a time, until one is taken. */
  readonly trial?: { readonly reason: string; readonly tries: number };
  /** Duties that fail just now and are retried. A success removes the entry. */
  readonly troubles?: { readonly [What in ProviderDuty]?: ProviderTrouble };
  /** What the provider told last of the business account or its number: its quality, its limits, a ban. */
  readonly notice?: { readonly at: Date; readonly words: string };
  /** The volume tiers that the business account has reached, by market and category: the newest told last. */
  readonly tiers?: readonly VolumeTier[];
  readonly createdAt: Date;
  /** When it was made the account's default number. The one with the latest time is it (`byRank`). */
  readonly defaultAt?: Date;
}

/** From a number of messages in a month on, the provider takes less for each (WhatsApp, "Volume tiers"). In its words. */
export interface VolumeTier {
  /** `UTILITY`, `AUTHENTICATION`. */
  readonly category: string;
  /** `INDIA`. */
  readonly region: string;
  /** The messages that it is for: `25000001:50000000`. */
  readonly tier: string;
  /** `2026-11`. Absent when it says none. */
  readonly month?: string;
  readonly at: Date;
}

/** Sorts an account's numbers: the default number first. It is the one that was made it last, or else the oldest. Pure. */
export function byRank(a: ProviderRank, b: ProviderRank): number {
  const made = (b.defaultAt?.getTime() ?? 0) - (a.defaultAt?.getTime() ?? 0);
  return made || a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1);
}

type ProviderRank = Pick<ProviderDocument, '_id' | 'createdAt' | 'defaultAt'>;

/** What a worker does with a provider: copy its templates, ask for templates, send messages, hear what became of them. */
export type ProviderDuty = 'templates' | 'requests' | 'sends' | 'statuses';

export interface ProviderTrouble {
  /** When it last happened. */
  readonly at: Date;
  /** For the operator; contains neither secrets nor customers' numbers. */
  readonly reason: string;
}

export const PROVIDER_DEFAULTS = {
  status: 'active',
  perSecond: 80,
  windowSize: 80,
  perCustomerMs: 0,
  timeoutMs: 10_000,
  optIn: 'off',
  unknownPolicy: 'assume_sent',
  unknownWaitMs: 900_000,
} as const satisfies Partial<ProviderDocument>;

/**
 * The `parts[].key` of a sent chat-app message; a status finds the message by it. It includes the account, because we cannot rely
 * on `wamid.…` being unique.
 */
export function chatMessageKey(account: AccountId, upstreamId: string): string {
  return `chatapp:${account}:${upstreamId}`;
}
