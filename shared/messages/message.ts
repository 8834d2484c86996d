import type { AccountId, BatchId, ClaimId, GroupId, MessageId } from '../runtime/ids.ts';
import type { Encoding } from '../sms/segment.ts';

/** Each is a folder of the gateway, a worker and an entry of shared/channels. */
export type ChannelName = 'sms' | 'chatapp';

export type Route = 'transactional' | 'promotional';

/**
 * What messages of every channel have, from accept to their end. Each change of `state` is one atomic update whose filter
 * names the states it may leave (status.ts) and the version it read; what follows elsewhere (deliveries) has ids derived
 * from it.
 */
export interface StoredMessage {
  readonly _id: MessageId;
  readonly channel: ChannelName;
  readonly account: AccountId;
  /** Digits, country code first. */
  readonly to: string;
  readonly reference?: string;
  readonly state: MessageState;
  /** Raised by every update that changes the message; grouped updates filter on the version that they decided from. */
  readonly v: number;
  /** When something must happen if nothing else does: the validity's end, or in `waiting` the next try. Unset when final. */
  readonly due?: Date;
  readonly validUntil: Date;
  /** Who took it, while `submitting` (and afterwards, as a record). */
  readonly claim?: Claim;
  /** Submits that were refused for now (throttled, temporary error); limits retries. */
  readonly tries: number;
  /** Submits that a carrier throttled; many of them count as a try. */
  readonly throttles?: number;
  /** One per segment, in order, from the moment that a carrier answered; one for a message of the chat-app channel. */
  readonly parts?: readonly Part[];
  /** Submits before the current one that may have been taken, oldest first; absent, not empty (copies.ts). */
  readonly earlier?: readonly Copy[];
  /** Every entry is an event; its id derives from message and state (`eventId`). */
  readonly history: readonly HistoryEntry[];
  /** The network or carrier that delivered, for people. */
  readonly operator?: string;
  readonly deliveredAt?: Date;
  readonly errorCode?: string;
  readonly errorReason?: string;
  /** A submit was written and its answer never came: neither sent nor failed until something settles it. */
  readonly outcome?: 'unknown';
  /** Why a `sent` message will not change any more. */
  readonly closedReason?: 'no_receipt';
}

/** An SMS to one recipient. */
export interface MessageDocument extends StoredMessage {
  readonly channel: 'sms';
  /** The debit that paid for it. */
  readonly group: GroupId;
  /** The bulk request that it belongs to; its id derives from it (`batchMessageIds`). */
  readonly batch?: BatchId;
  readonly sender: string;
  readonly route: Route;
  /** Routing group fixed at accept; the carriers that serve it claim from it. */
  readonly path: string;
  /** 0 otp, 1 transactional, 2 bulk transactional, 3 promotional, 4 promotional within its hours: lower leaves first. */
  readonly lane: number;
  readonly text: string;
  readonly encoding: Encoding;
  readonly segments: number;
  /** Of the DLT template that the text matched: its id, and the business (PE) that registered it. */
  readonly template?: string;
  readonly entityId?: string;
  /** The change that refunds it together with others (docs/decisions/0012); absent: it is refunded by its own id, if at all. */
  readonly refund?: `ref_${string}`;
}

/** Where a claim says whose it is. Stored as `carrier` since there was SMS alone; code calls it the holder. */
export const CLAIM_HOLDER = 'claim.carrier';

/** Usually queued → submitting → sent → delivered. All the ways, and what the API calls each state: `STATES` in status.ts. */
export type MessageState = 'queued' | 'submitting' | 'waiting' | 'sent' | FinalState | 'read' | 'received';
export type FinalState = 'delivered' | 'failed' | 'expired' | 'rejected';

export interface Claim {
  /** The grouped claim that took it; lets a claimer re-read what it got. */
  readonly id: ClaimId;
  /** The holder: a carrier, or the lease of a partition of the chat-app accounts. */
  readonly carrier: string;
  /** Of the holder's lease: a settle by an earlier holder matches nothing. */
  readonly epoch: number;
  readonly at: Date;
}

/** A submit whose answer never came and that another one followed: what is known of it by now. */
export interface Copy extends Claim {
  readonly parts: readonly Part[];
}

export interface Part {
  /** `<carrier>:<id in the carrier's normal form>`, indexed; absent when the carrier gave no id or refused the part. */
  readonly key?: string;
  readonly state: PartState;
  readonly error?: string;
}
export type PartState = 'accepted' | 'refused' | 'unknown' | FinalState;

export interface HistoryEntry {
  readonly state: 'sent' | FinalState | 'read' | 'received';
  readonly at: Date;
}
