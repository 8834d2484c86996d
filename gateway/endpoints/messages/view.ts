import type { InboundSmsDocument } from '../../../shared/messages/document/any-message.ts';
import type {
  Answered,
  ChatContent,
  ChatMessageDocument,
  ContentType,
  Fallback,
  InboundContent,
  InboundMessageDocument,
} from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument, Part, StoredMessage } from '../../../shared/messages/document/message.ts';
import type { ChangeId } from '../../../shared/money/accounts/account.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import type { DeliveryStatus, Happened, Message, Part as PartShape, WholeMessage } from './shapes.ts';

/**
 * How the API shows the messages of one channel, where channels differ. The readers (message-list.ts, status.ts,
 * read-whole.ts) ask it what to read; the records and the timeline ask it what to show. Views are registered in
 * views.ts.
 */
export interface View<Stored extends TextlessMessage> {
  /** Fields that lists read, in addition to those of every message. */
  readonly summaryFields: readonly string[];
  /** Fields that GET /v2/status reads, in addition to those of every message. */
  readonly statusFields: readonly string[];
  /** Fields that hold the message's text. GET /v2/messages/{id} reads all other fields. */
  readonly textFields: readonly string[];
  /** Whether customers see the name under which the message was claimed. */
  readonly showsCarrier: boolean;
  /** "operator: name of the carrier that delivered" ("Delivery status record"). Null while unknown. */
  operatorOf(message: Pick<StoredMessage, 'operator' | 'deliveredAt'>): string | null;
  /** This channel's members of a list entry. */
  summary(message: MessageSummary): Pick<Shown<typeof Message>, 'channel'> & Partial<Shown<typeof Message>>;
  /** This channel's members of GET /v2/status. */
  status(message: MessageStatus): Partial<Shown<typeof DeliveryStatus>>;
  /**
   * This channel's members of GET /v2/messages/{id} that say where the message went and what it contained. Empty for
   * a message from a customer.
   */
  whole(message: Stored): Partial<Shown<typeof WholeMessage>>;
  /** The timeline up to the payment. Empty for a message from a customer. */
  beginning(message: Stored): readonly Happening[];
  payment(message: Stored): Payment;
  /** The carrier's or the provider's id of the message, extracted from a part's key. */
  upstreamId(key: string, account: AccountId): string;
}

/** What this message cost. One debit can pay for many messages, and one refund can cover many. */
export interface Payment {
  readonly credits: number;
  /** Ids that the ledger entries have if they exist. Absent for a message that costs nothing. */
  readonly debit?: ChangeId;
  readonly refund?: ChangeId;
}

/** One event in a message's timeline. `what` determines the other members. */
export interface Happening {
  readonly at: Date;
  readonly what: Shown<typeof Happened>['what'];
  readonly more?: Omit<Shown<typeof Happened>, 'at' | 'what'>;
}

/** The fields that lists read of every message. Never its text. */
export const SUMMARY_FIELDS = [
  '_id',
  'channel',
  'to',
  'reference',
  'state',
  'outcome',
  'operator',
  'deliveredAt',
  'errorCode',
  'errorReason',
  'closedReason',
  'givenUp',
] as const satisfies readonly (keyof StoredMessage)[];
export type MessageSummary = Pick<StoredMessage, (typeof SUMMARY_FIELDS)[number]> & Partial<OwnFields>;

/** The fields that GET /v2/status reads of every message. Never its text. */
export const STATUS_FIELDS = [
  '_id',
  'channel',
  'to',
  'state',
  'deliveredAt',
  'operator',
  'reference',
  'errorCode',
  'errorReason',
  'outcome',
  'history',
  'givenUp',
] as const satisfies readonly (keyof StoredMessage)[];
export type MessageStatus = Pick<StoredMessage, (typeof STATUS_FIELDS)[number]> & Partial<OwnFields>;

/** Fields that only some channels have. Each view names those that are read. */
type OwnFields = Pick<MessageDocument, 'sender' | 'route' | 'batch' | 'segments'> &
  Pick<ChatMessageDocument, 'conversation'> & { readonly fallback: Omit<Fallback, 'sms'> } & Pick<
    InboundMessageDocument,
    'from'
  > & {
    readonly direction: 'in' | 'out';
    /** For our messages: the kind of content. */
    readonly content: { readonly kind: ChatContent['kind']; readonly type?: ContentType };
    /** For messages from customers. */
    readonly inbound: Pick<InboundContent, 'type'>;
  };

/** A message without its text. */
export type TextlessMessage = TextlessSms | TextlessInboundSms | TextlessChatMessage | TextlessInbound;
export type TextlessInboundSms = Omit<InboundSmsDocument, 'inbound'> & {
  readonly inbound: Pick<InboundContent, 'type'>;
};
export type TextlessSms = Omit<MessageDocument, 'text'>;
export type TextlessChatMessage = Omit<ChatMessageDocument, 'content'> & {
  readonly content: {
    readonly kind: ChatContent['kind'];
    readonly type?: ContentType;
    /** For templates. */
    readonly name?: string;
    readonly language?: string;
    /** For reactions. */
    readonly reactsTo?: Answered;
  };
};
export type TextlessInbound = Omit<InboundMessageDocument, 'inbound'> & {
  readonly inbound: Pick<InboundContent, 'type'>;
};

/** The segments, each with the carrier's answer. `idOf` extracts the carrier's message id from a part's key. */
export function partRecords(parts: readonly Part[], idOf: (key: string) => string): Shown<typeof PartShape>[] {
  return parts.map(({ key, state, error }, index) => ({
    number: index + 1,
    state,
    carrier_message_id: key === undefined ? null : idOf(key),
    error: error ?? null,
  }));
}
