import type { Profile } from '../money/conversations/conversation.ts';
import type { AccountId } from '../platform/runtime/ids.ts';
import type { BusinessNumber, Pricing } from './document/chat-message.ts';

/**
 * The largest item: 4,096 values, or 64 KB with 2,048 values. Far above what providers send: a text has at most 4,096 characters,
 * a caption 1,024 (WhatsApp Cloud API, Messages reference). A shared address book of 257 contacts has about 100,000.
 */
export const ITEM_WEIGHT_MAX = 131_072;

/**
 * One message, one status, one change of a template, or one wish of a customer that a provider posted to the callback. It is stored before the post is
 * answered. The chatapp worker processes it; after that it is kept without `due` until it expires. `_id` derives from the content,
 * so a repeated post adds nothing, even after the item was processed.
 */
export interface InboxItemDocument {
  /** By `itemId`: of a message or a status with the provider's id of the message, of others with a hash of what is told. */
  readonly _id: string;
  readonly account: AccountId;
  readonly at: Date;
  /** When to process it (again). Unset once it is processed; it is then kept only so that a repeated post is recognized. */
  readonly due?: Date;
  readonly tries: number;
  readonly what: InboundItem | StatusItem | TemplateItem | PreferenceItem;
  /**
   * Its size, at most `ITEM_WEIGHT_MAX`: its characters, plus 32 for each value. It limits what is read or written at once.
   */
  readonly weight: number;
  /** When the store removes it. Set only once it is processed, so that nothing we answered with 200 is lost unread. */
  readonly expiresAt?: Date;
}

/** A customer's message. */
export interface InboundItem {
  readonly kind: 'message';
  /** The account's number that the customer wrote to. */
  readonly number: BusinessNumber;
  readonly upstreamId: string;
  readonly from: string | null;
  /** What the provider tells of who wrote it, beside `from`. */
  readonly who?: Profile;
  readonly sentAt: Date;
  readonly type: string;
  readonly body: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** What the provider tells of a template. */
export interface TemplateItem {
  readonly kind: 'template';
  /** The id of the business account that has it. */
  readonly business: string;
  readonly name: string;
  readonly language: string;
  /** Absent when the status did not change, or only the provider's list tells it. */
  readonly status?: string;
  /** When the status changed, by the provider's clock, in whole seconds. Absent when it did not change, or nobody can tell. */
  readonly toldAt?: Date;
  readonly reason?: string;
  readonly quality?: string;
  readonly category?: string;
}

/** A customer told the provider whether to get marketing. */
export interface PreferenceItem {
  readonly kind: 'preference';
  readonly customer: string;
  /** What else the provider tells of the customer. */
  readonly who?: Profile;
  readonly wish: 'stopped' | 'resumed';
  /** By the provider's clock, not in the future. */
  readonly toldAt: Date;
}

/** The status of a message that we sent. */
export interface StatusItem {
  readonly kind: 'status';
  readonly upstreamId: string;
  /** Our message id, when the provider returns what the send carried (`biz_opaque_callback_data`). */
  readonly ours?: string;
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
  /** The customer's number as the provider knows it, digits. Absent when it says none. */
  readonly recipient?: string;
  /** What else the provider tells of the customer. */
  readonly who?: Profile;
  readonly at: Date;
  readonly error?: { readonly code: number; readonly title: string; readonly details?: string };
  readonly pricing?: Pricing;
}

/** The id of an item. It derives from the content, so a repeated post adds nothing. `id` is unique among items of this kind. */
export function itemId(
  account: AccountId,
  kind: 'in' | 'template' | 'preference' | StatusItem['status'],
  id: string,
): string {
  return `${account}:${kind}:${id}`;
}
