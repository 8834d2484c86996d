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
import type { CarriedChannel, ChannelName } from './channel.ts';

export type Route = 'transactional' | 'promotional';

/**
 * The fields that messages of all channels have. Each change of `state` is one atomic update. Its filter names the states that it
 * may leave (status.ts) and the version that was read. Follow-up documents (deliveries) have ids derived from the message.
 */
export interface StoredMessage {
  readonly _id: MessageId;
  readonly channel: ChannelName;
  readonly account: AccountId;
  /** The day of its id (`idDay`). It makes searches cheap (platform/mongo/indexes.ts). */
  readonly day: number;
  /** Digits, country code first. */
  readonly to: string;
  readonly reference?: string;
  /** Whose code it has: nobody is shown that (messages/document/verification.ts). */
  readonly verification?: VerificationId;
  /** The keys with caps of their own that have paid for it, by line: a refund makes room in their caps again. */
  readonly keys?: readonly string[];
  readonly state: MessageState;
  /** Version: raised by every update of the message. Grouped updates filter on the version that they were decided from. */
  readonly v: number;
  /**
   * When the maintenance must look at it: the end of its validity, or in `waiting` the time of the next try. Unset when final.
   */
  readonly due?: Date;
  readonly validUntil: Date;
  /** The worker that took it, while `submitting`; afterwards kept as a record. */
  readonly claim?: Claim;
  /** Submits that were refused for now (throttled, temporary error). It limits retries. */
  readonly tries: number;
  /** Submits that a carrier throttled. A number of them counts as one try (messages/settlement/decide-outcome.ts). */
  readonly throttles?: number;
  /** One part per segment, in order, present once a carrier has answered. A chat-app message has one part. */
  readonly parts?: readonly Part[];
  /** Earlier submits that may have been taken, oldest first. Absent when there are none (copies.ts). */
  readonly earlier?: readonly Copy[];
  /**
   * Carriers that certainly did not take it, or gave it up, oldest first. None of them is asked again. If a carrier may have taken it, that is
   * an earlier copy instead, and receipts from there find the message.
   */
  readonly attempts?: readonly Attempt[];
  /**
   * The submit whose receipt said that it surely was not delivered, so that the next carrier was asked: one at most. It decides nothing
   * any more, and what is heard of it is only kept for the timeline (docs/decisions/0054). Its carrier is among the attempts too.
   */
  readonly givenUp?: Copy;
  /** Every entry is an event. The event's id derives from message and state (`eventId`). */
  readonly history: readonly HistoryEntry[];
  /** The network or carrier that delivered, for people. */
  readonly operator?: string;
  readonly deliveredAt?: Date;
  readonly errorCode?: string;
  readonly errorReason?: string;
  /** A submit was written and never answered. The message is neither sent nor failed until something settles it. */
  readonly outcome?: 'unknown';
  /** Receipts that did not say how their segments ended. Those will have failed, unless better receipts come. */
  readonly held?: HeldReceipt;
  /** Why a `sent` message will not change any more. */
  readonly closedReason?: 'no_receipt';
}

/** What a carrier said about segments whose end it does not know. `until`: how long a better receipt may still come. */
export interface HeldReceipt {
  /**
   * Ids of the segments, as in their parts. Absent in documents of earlier versions: then the message fails, whatever becomes of its
   * other segments.
   */
  readonly keys?: readonly string[];
  readonly until: Date;
  readonly error?: string;
  /** As in a part. */
  readonly isStateNumber?: true;
  readonly reason?: string;
}

/** A message to one recipient that a carrier takes: an SMS. */
export interface MessageDocument extends StoredMessage {
  readonly channel: CarriedChannel;
  /** The debit that paid for it. */
  readonly group: GroupId;
  /** The bulk request that it belongs to. The message's id derives from the batch's id (`batchMessageIds`). */
  readonly batch?: BatchId;
  readonly sender: string;
  readonly route: Route;
  /**
   * Which carriers may take it. Either a routing group or, by the routes, a list of carriers in their order (carriers/routing/route.ts). It
   * is set at accept. It changes when a carrier refuses the message and another may take it, and when the routes change while it
   * waits.
   */
  readonly path: string;
  /** The route that decided the path, for reports. Absent when no route is configured. */
  readonly routed?: Routed;
  /**
   * Priority class; lower leaves first: 0 otp, 1 transactional, 2 low (all transactional messages of batches), 3 promotional, 4
   * promotional under DLT, which leaves within its hours only (messages/document/routing.ts).
   */
  readonly lane: number;
  readonly text: string;
  readonly encoding: Encoding;
  readonly segments: number;
  /** Id of the DLT template that the text matched, and of the business (PE) that registered it. */
  readonly template?: string;
  readonly entityId?: string;
  /** The message that it repeats, on demand of a person. */
  readonly resendOf?: MessageId;
  /**
   * What repeats it, the newest last: written before the new message is paid for. One that was refused then, or whose gateway died, does
   * not exist.
   */
  readonly resentAs?: readonly MessageId[];
  /** The customer's message that it answers by itself (a confirmation of STOP): it goes to who has opted out, too. */
  readonly inReplyTo?: MessageId;
  /** The chat-app message in whose place it goes (document/fallback.ts). */
  readonly fallbackOf?: MessageId;
  /** What was paid for it. Absent: 1 (money/accounts/prices.ts). */
  readonly credits?: number;
  /**
   * The change that refunds it together with other messages (docs/decisions/0006). Absent: it is refunded by its own id, if at
   * all.
   */
  readonly refund?: `ref_${string}`;
}

/** The field of a claim's holder. It is stored as `carrier` because SMS was once the only channel. */
export const CLAIM_HOLDER = 'claim.carrier';

/** Usually queued → submitting → sent → delivered. All transitions, and what the API calls each state: `STATES` in status.ts. */
export type MessageState = 'queued' | 'submitting' | 'waiting' | 'sent' | FinalState | 'read' | 'received';
export type FinalState = 'delivered' | 'failed' | 'expired' | 'rejected';

export interface Claim {
  /** The grouped claim that took it. The claimer uses it to read again what it got. */
  readonly id: ClaimId;
  /** The holder: a carrier, or the lease of a partition of the chat-app accounts. */
  readonly carrier: string;
  /** Epoch of the holder's lease. A settle by an earlier holder matches nothing. */
  readonly epoch: number;
  readonly at: Date;
}

/** A submit without an answer that was followed by another one, with what is known of it by now. */
export interface Copy extends Claim {
  readonly parts: readonly Part[];
}

/** A carrier that refused the message, or gave it up, before another carrier was asked. */
export interface Attempt {
  readonly carrier: string;
  /** When this carrier's worker claimed the message. */
  readonly at: Date;
  /** The command_status, or the error of the receipt, as in `error_code`. `reason` has it in words. */
  readonly code: string;
  readonly reason: string;
}

/** The route's prices, for reports only: what the account pays is in `credits`. */
export interface Routed {
  /** The route's name. */
  readonly route: string;
  /** The sale price, as the operator wrote it: `0.12 INR`. */
  readonly price?: string;
  /** What each carrier costs. The price of `claim.carrier` is the real one. */
  readonly costs?: Readonly<Record<string, string>>;
  /** How long after its submit a receipt may send it to the next carrier (`RouteDocument`). */
  readonly receiptFailoverSeconds?: number;
}

export interface Part {
  /** `<carrier>:<id in the carrier's normal form>`, indexed; absent when the carrier gave no id or refused the part. */
  readonly key?: string;
  /** The key in small letters, indexed; present when the id has letters of both cases. The carrier's receipts may have it in another. */
  readonly caseless?: string;
  readonly state: PartState;
  readonly error?: string;
  /** The carrier told the state as a number and no error: `error` is that number, and no error has its meaning. */
  readonly isStateNumber?: true;
}
export type PartState = 'accepted' | 'refused' | 'unknown' | FinalState;

/**
 * A state that the message reached. For a customer's message also what followed from it (carriers/opt-outs/), and for a chat-app
 * message what became of the SMS in its place (fallback.ts).
 */
export interface HistoryEntry {
  readonly state: 'sent' | FinalState | 'read' | 'received' | 'opted_out' | 'opted_in' | 'fallback';
  readonly at: Date;
  /** Why it failed or expired: the message's own fields are unset when it arrives after all. Absent in older entries. */
  readonly error?: { readonly code: string; readonly reason?: string };
  /** The receipt that ended it, as the carrier wrote it. Only where a webhook of the account asks for it (`raw`). */
  readonly raw?: RawReceipt;
}

export interface RawReceipt {
  /** Its text, cut before the customer's words. */
  readonly text: string;
  readonly tlvs?: ReceiptTlvs;
}

/** A receipt's TLVs (SMPP 3.4 §5.3.2), for people. */
export interface ReceiptTlvs {
  readonly receiptedMessageId?: string;
  readonly messageState?: number;
  /** Three octets in hexadecimal: the type of network, then the code. */
  readonly networkErrorCode?: string;
  /** Those that we do not read: tag (`0x1403`) and octets, in hexadecimal. */
  readonly others?: readonly { readonly tag: string; readonly value: string }[];
}

/** A message as requested: checked and routed, not paid yet. */
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

/** The document that a paid draft becomes. Pure: accept and a redo after a crash write the same. */
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

/** When the maintenance looks at an accepted message: at the end of its validity, and at a test message at once. */
export function firstDue(account: AccountId, { _id, validUntil }: Pick<MessageDocument, '_id' | 'validUntil'>): Date {
  return isTestAccount(account) ? idTime(_id) : validUntil;
}
