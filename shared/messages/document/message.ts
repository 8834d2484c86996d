import {
  type AccountId,
  type BatchId,
  type ClaimId,
  type GroupId,
  idDay,
  idTime,
  isTestAccount,
  type MessageId,
  type VerificationId,
} from '../../platform/runtime/ids.ts';
import type { Encoding } from '../sms-plan.ts';

/** Each has a folder in the gateway, a worker, and an entry in shared/messages/channels. */
export type ChannelName = 'sms' | 'chatapp';

export type Route = 'transactional' | 'promotional';

/**
 * The fields that messages of all channels have. Each change of `state` is one atomic update, whose filter names the
 * states that it may leave (status.ts) and the version that was read. Follow-up documents (deliveries) have ids derived
 * from the message.
 */
export interface StoredMessage {
  readonly _id: MessageId;
  readonly channel: ChannelName;
  readonly account: AccountId;
  /** The day of its id (`idDay`), for cheap searches (platform/mongo/indexes.ts). */
  readonly day: number;
  /** Digits, country code first. */
  readonly to: string;
  readonly reference?: string;
  /** The verification whose code the message has; nobody is shown that text (verification.ts). */
  readonly verification?: VerificationId;
  /** The keys with caps of their own that paid for it, by line: a refund makes room in their caps again. */
  readonly keys?: readonly string[];
  readonly state: MessageState;
  /** Raised by every update. Grouped updates filter on the version that they were decided from. */
  readonly v: number;
  /** When maintenance looks at it: the end of its validity, or in `waiting` the next try. Unset when final. */
  readonly due?: Date;
  readonly validUntil: Date;
  /** The worker that took it, while `submitting`; afterwards a record. */
  readonly claim?: Claim;
  /** Submits that were refused for now (throttled, temporary error); limits retries. */
  readonly tries: number;
  /** Throttled submits. A number of them counts as one try (messages/settlement/decide-outcome.ts). */
  readonly throttles?: number;
  /** One per segment, in order, once a carrier has answered. A chat-app message has one. */
  readonly parts?: readonly Part[];
  /** Earlier submits that may have been taken, oldest first (copies.ts). */
  readonly earlier?: readonly Copy[];
  /**
   * Carriers that certainly did not take it, or gave it up, oldest first. None is asked again. A carrier that may have
   * taken it has an earlier copy instead, so that its receipts find the message.
   */
  readonly attempts?: readonly Attempt[];
  /**
   * The submit whose receipt said that it surely was not delivered, so that the next carrier was asked, once. Later
   * news of it is only kept for the timeline (docs/decisions/0054). Its carrier is among the attempts too.
   */
  readonly givenUp?: Copy;
  /** Every entry is an event. The event's id derives from message and state (`eventId`). */
  readonly history: readonly HistoryEntry[];
  readonly operator?: string;
  readonly deliveredAt?: Date;
  readonly errorCode?: string;
  readonly errorReason?: string;
  /** A submit was written and never answered. The message is neither sent nor failed until something settles it. */
  readonly outcome?: 'unknown';
  /** Receipts that did not say how their segments ended. Those fail unless better receipts come. */
  readonly held?: HeldReceipt;
  /** Why a `sent` message will not change any more. */
  readonly closedReason?: 'no_receipt';
}

/** A carrier does not know the end of these segments. `until`: how long a better receipt may still come. */
export interface HeldReceipt {
  /** Ids of the segments, as in their parts. Absent in old documents: then the whole message fails. */
  readonly keys?: readonly string[];
  readonly until: Date;
  readonly error?: string;
  /** As in a part. */
  readonly isStateNumber?: true;
  readonly reason?: string;
}

export interface MessageDocument extends StoredMessage {
  readonly channel: 'sms';
  readonly group: GroupId;
  /** The message's id derives from the batch's id (`batchMessageIds`). */
  readonly batch?: BatchId;
  readonly sender: string;
  readonly route: Route;
  /**
   * The carriers that may take it: a routing group, or an ordered list (carriers/routing/route.ts). Set at accept;
   * changed when a carrier refuses the message and another may take it, and when routes change while it waits.
   */
  readonly path: string;
  /** The route that decided the path, for reports. Absent when no route is configured. */
  readonly routed?: Routed;
  /**
   * Lower leaves first: 0 otp, 1 transactional, 2 low (all transactional messages of batches), 3 promotional, 4
   * promotional under DLT, which leaves within its hours only (messages/document/routing.ts).
   */
  readonly lane: number;
  readonly text: string;
  readonly encoding: Encoding;
  readonly segments: number;
  /** The DLT template that the text matched, and the business (PE) that registered it. */
  readonly template?: string;
  readonly entityId?: string;
  /** The message that it repeats, on demand of a person. */
  readonly resendOf?: MessageId;
  /** Written before they are paid for: one that was refused, or whose gateway died, does not exist. */
  readonly resentAs?: readonly MessageId[];
  /** The customer's message that it answers automatically (STOP): it goes also to who has opted out. */
  readonly inReplyTo?: MessageId;
  /** The chat-app message in whose place it goes (document/fallback.ts). */
  readonly fallbackOf?: MessageId;
  /** Absent: 1 (money/accounts/prices.ts). */
  readonly credits?: number;
  /** The change that refunds it together with others (docs/decisions/0006). Absent: a refund has its own id. */
  readonly refund?: `ref_${string}`;
}

/** The claim's holder, stored as `carrier` because SMS was once the only channel. */
export const CLAIM_HOLDER = 'claim.carrier';

/** Usually queued → submitting → sent → delivered. All transitions: `STATES` in status.ts. */
export type MessageState = 'queued' | 'submitting' | 'waiting' | 'sent' | FinalState | 'read' | 'received';
export type FinalState = 'delivered' | 'failed' | 'expired' | 'rejected';

export interface Claim {
  /** The grouped claim that took it, by which the claimer reads again what it got. */
  readonly id: ClaimId;
  /** A carrier, or the lease of a partition of the chat-app accounts. */
  readonly carrier: string;
  /** Epoch of the holder's lease. A settle by an earlier holder matches nothing. */
  readonly epoch: number;
  readonly at: Date;
}

/** A submit without an answer that was followed by another one, with what is known of it now. */
export interface Copy extends Claim {
  readonly parts: readonly Part[];
}

/** A carrier that refused the message, or gave it up, before another carrier was asked. */
export interface Attempt {
  readonly carrier: string;
  readonly at: Date;
  /** The command_status, or the error of the receipt, as in `error_code`; `reason` in words. */
  readonly code: string;
  readonly reason: string;
}

/** For reports only: what the account pays is in `credits`. */
export interface Routed {
  readonly route: string;
  /** As the operator wrote it: `0.12 INR`. */
  readonly price?: string;
  /** By carrier. The real cost is that of `claim.carrier`. */
  readonly costs?: Readonly<Record<string, string>>;
  readonly receiptFailoverSeconds?: number;
}

export interface Part {
  /** `<carrier>:<id in the carrier's normal form>`, indexed; absent when the carrier gave no id or refused the part. */
  readonly key?: string;
  /** The key in lower case, indexed; present when the id has both cases: receipts may write it in another case. */
  readonly caseless?: string;
  readonly state: PartState;
  readonly error?: string;
  /** The carrier gave a state number and no error: `error` is that number, which no error table explains. */
  readonly isStateNumber?: true;
}
export type PartState = 'accepted' | 'refused' | 'unknown' | FinalState;

/** A state that was reached, an opt-out or opt-in, or the outcome of the fallback SMS. */
export interface HistoryEntry {
  readonly state: 'sent' | FinalState | 'read' | 'received' | 'opted_out' | 'opted_in' | 'fallback';
  readonly at: Date;
  /** Why it failed or expired; stays when the message arrives after all. Absent in older entries. */
  readonly error?: { readonly code: string; readonly reason?: string };
  /** The receipt that ended it, as the carrier wrote it. Only where a webhook of the account asks for it (`raw`). */
  readonly raw?: RawReceipt;
}

export interface RawReceipt {
  /** Cut before the customer's words. */
  readonly text: string;
  readonly tlvs?: ReceiptTlvs;
}

/** SMPP 3.4 §5.3.2, for people. */
export interface ReceiptTlvs {
  readonly receiptedMessageId?: string;
  readonly messageState?: number;
  /** Three octets in hexadecimal: the type of network, then the code. */
  readonly networkErrorCode?: string;
  /** Those that we do not read: tag (`0x1403`) and octets, in hexadecimal. */
  readonly others?: readonly { readonly tag: string; readonly value: string }[];
}

export type MessageDraft = Pick<
  MessageDocument,
  | '_id'
  | 'to'
  | 'sender'
  | 'route'
  | 'path'
  | 'routed'
  | 'lane'
  | 'text'
  | 'encoding'
  | 'segments'
  | 'validUntil'
  | 'template'
  | 'entityId'
  | 'reference'
  | 'verification'
  | 'batch'
  | 'inReplyTo'
  | 'fallbackOf'
  | 'resendOf'
  | 'credits'
  | 'keys'
>;

/** Pure: accept and a redo after a crash write the same. */
export function queuedMessage(account: AccountId, group: GroupId, draft: MessageDraft): MessageDocument {
  return {
    _id: draft._id,
    channel: 'sms',
    account,
    day: idDay(draft._id),
    group,
    ...(draft.batch === undefined ? {} : { batch: draft.batch }),
    to: draft.to,
    sender: draft.sender,
    route: draft.route,
    path: draft.path,
    ...(draft.routed === undefined ? {} : { routed: draft.routed }),
    lane: draft.lane,
    text: draft.text,
    encoding: draft.encoding,
    segments: draft.segments,
    ...(draft.template === undefined ? {} : { template: draft.template }),
    ...(draft.entityId === undefined ? {} : { entityId: draft.entityId }),
    ...(draft.reference === undefined ? {} : { reference: draft.reference }),
    ...(draft.verification === undefined ? {} : { verification: draft.verification }),
    ...(draft.inReplyTo === undefined ? {} : { inReplyTo: draft.inReplyTo }),
    ...(draft.fallbackOf === undefined ? {} : { fallbackOf: draft.fallbackOf }),
    ...(draft.resendOf === undefined ? {} : { resendOf: draft.resendOf }),
    ...(draft.credits === undefined ? {} : { credits: draft.credits }),
    ...(draft.keys === undefined ? {} : { keys: draft.keys }),
    state: 'queued',
    v: 0,
    due: firstDue(account, draft),
    validUntil: draft.validUntil,
    tries: 0,
    history: [],
  };
}

/** When maintenance looks at an accepted message: when its validity ends; a test message at once. */
export function firstDue(account: AccountId, { _id, validUntil }: Pick<MessageDocument, '_id' | 'validUntil'>): Date {
  return isTestAccount(account) ? idTime(_id) : validUntil;
}
