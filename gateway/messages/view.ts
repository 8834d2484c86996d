import type { ChangeId } from '../../shared/accounts/account.ts';
import type {
  ChatContent,
  ChatMessageDocument,
  InboundContent,
  InboundMessageDocument,
  MediaType,
} from '../../shared/messages/chat-message.ts';
import type { MessageDocument, StoredMessage } from '../../shared/messages/message.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import type { LogRecord } from '../../shared/settlement/message-log.ts';

/**
 * What the API shows of a message of one channel, beside what it shows of every message. The readers (message-list.ts, read.ts,
 * read-whole.ts) ask it what to read, the records and the timeline what to show. Registered in views.ts.
 */
export interface View<Message extends TextlessMessage> {
  /** Fields that lists read, beside those of every message. */
  readonly summaryFields: readonly string[];
  /** Fields that GET /v2/status reads, beside those of every message. */
  readonly statusFields: readonly string[];
  /** Fields with what was written: GET /v2/messages/{id} reads all but these. */
  readonly textFields: readonly string[];
  /** Whether customers are shown who took the message. */
  readonly showsCarrier: boolean;
  /** "operator: name of the carrier that delivered" ("Delivery status record"); null where it is not known yet. */
  operatorOf(message: Pick<StoredMessage, 'operator' | 'deliveredAt'>): string | null;
  /** Own members of an entry of a list. */
  summary(message: MessageSummary): object;
  /** Own members of GET /v2/status. */
  status(message: MessageStatus): object;
  /** Own members of GET /v2/messages/{id}: where it went, and what was said to it. None for what a customer wrote. */
  whole(message: Message): object;
  /** The timeline until it was paid for. Empty for what a customer wrote. */
  beginning(message: Message): readonly Happening[];
  payment(message: Message): Payment;
  /** The id that the carrier or the provider gave, out of a part's key. */
  upstreamId(key: string, account: AccountId): string;
}

/** What a message cost by itself: one debit may have paid for many messages, and one refund gives back for many. */
export interface Payment {
  readonly credits: number;
  /** Ids of the ledger entries, which are there only if it happened; absent for what costs nothing. */
  readonly debit?: ChangeId;
  readonly refund?: ChangeId;
}

/** One thing that happened to a message. `what` says which members it has. */
export interface Happening {
  readonly at: Date;
  readonly what:
    | 'accepted'
    | 'template'
    | 'path'
    | 'paid'
    | 'taken'
    | LogRecord['kind']
    | 'state'
    | 'webhook'
    | 'refunded';
  readonly more?: Readonly<Record<string, string | number | object | undefined>>;
}

/** What lists read of a message of any channel; never its text. */
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
] as const satisfies readonly (keyof StoredMessage)[];
export type MessageSummary = Pick<StoredMessage, (typeof SUMMARY_FIELDS)[number]> & Partial<OwnFields>;

/** What GET /v2/status reads of a message of any channel; never its text. */
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
] as const satisfies readonly (keyof StoredMessage)[];
export type MessageStatus = Pick<StoredMessage, (typeof STATUS_FIELDS)[number]> & Partial<OwnFields>;

/** What only messages of some channels have; the views say which fields of these are read. */
type OwnFields = Pick<MessageDocument, 'sender' | 'route' | 'batch' | 'segments'> &
  Pick<ChatMessageDocument, 'conversation'> &
  Pick<InboundMessageDocument, 'from'> & {
    readonly direction: 'in' | 'out';
    /** Of a message of ours, of which kind it is. */
    readonly content: { readonly kind: ChatContent['kind']; readonly type?: MediaType };
    /** Of a customer's. */
    readonly inbound: Pick<InboundContent, 'type'>;
  };

/** A message without what was written in it. */
export type TextlessMessage = TextlessSms | TextlessChatMessage | TextlessInbound;
export type TextlessSms = Omit<MessageDocument, 'text'>;
export type TextlessChatMessage = Omit<ChatMessageDocument, 'content'> & {
  readonly content: {
    readonly kind: ChatContent['kind'];
    readonly type?: MediaType;
    /** Of a template. */
    readonly name?: string;
    readonly language?: string;
  };
};
export type TextlessInbound = Omit<InboundMessageDocument, 'inbound'> & {
  readonly inbound: Pick<InboundContent, 'type'>;
};
