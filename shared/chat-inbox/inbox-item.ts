import type { AccountId } from '../runtime/ids.ts';

/**
 * The largest item: 4,096 values, or 64 KB with 2,048. Far above what providers send: a text has at most 4,096 characters, a
 * caption 1,024 (facts: chat-app, "Sending"); a shared address book of 257 contacts has some 100,000.
 */
export const ITEM_WEIGHT_MAX = 131_072;

/**
 * One message or one status that a provider posted to the callback: stored before the post is answered, worked off by the
 * chatapp worker, then kept without `due` until it expires. `_id` derives from what it says, so that the same post again adds
 * nothing, also when it was worked off.
 */
export interface InboxItemDocument {
  /** `<account>:in:<upstream id>`, or `<account>:<status>:<upstream id>`. */
  readonly _id: string;
  readonly account: AccountId;
  readonly at: Date;
  /** When to look at it (again); unset when it is worked off and only kept so that it is not taken twice. */
  readonly due?: Date;
  readonly tries: number;
  readonly what: InboundItem | StatusItem;
  /**
   * How large it is, `ITEM_WEIGHT_MAX` at most: its characters, and 32 for each of its values. What is read or written at once
   * is bounded by it. Items from before there was one have none.
   */
  readonly weight?: number;
  /** When the store removes it; set when it is worked off, so that nothing that was answered with 200 goes unread. */
  readonly expiresAt?: Date;
}

/** A customer's message. */
export interface InboundItem {
  readonly kind: 'message';
  readonly upstreamId: string;
  readonly from: string | null;
  readonly sentAt: Date;
  readonly type: string;
  readonly body: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** What became of a message of ours. */
export interface StatusItem {
  readonly kind: 'status';
  readonly upstreamId: string;
  /** Ours, when the provider gives back what the send carried (`biz_opaque_callback_data`). */
  readonly ours?: string;
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
  readonly at: Date;
  readonly error?: { readonly code: number; readonly title: string; readonly details?: string };
  /** `pricing` and `conversation` as they came, for later reconciliation. */
  readonly billing?: Readonly<Record<string, unknown>>;
}
