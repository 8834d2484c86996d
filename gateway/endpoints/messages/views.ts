import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import { CHAT_OPERATOR } from '../../../shared/messages/channels/channels.ts';
import type { InboundSmsDocument } from '../../../shared/messages/document/any-message.ts';
import {
  type Answered,
  type ChatContent,
  type ChatMessageDocument,
  CONTENT_TEXTS,
  type ContentType,
  type Fallback,
  type InboundContent,
  type InboundMessageDocument,
} from '../../../shared/messages/document/chat-message.ts';
import type { ChannelName, MessageDocument, Part, StoredMessage } from '../../../shared/messages/document/message.ts';
import { pathOf } from '../../../shared/messages/document/routing.ts';
import type { ChangeId } from '../../../shared/money/accounts/account.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime } from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import type { DeliveryStatus, FallbackShown, Happened, Message, Part as PartShape, WholeMessage } from './shapes.ts';

/**
 * How the API shows the messages of one channel, where channels differ. The readers (message-list.ts, status.ts, whole.ts) ask it what
 * to read; the records and the timeline ask it what to show. `VIEWS` has one for each channel.
 */
interface View<Stored extends TextlessMessage> {
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
  summary(message: MessageSummary): Pick<Shown<typeof Message>, 'channel'> & Partial<Shown<typeof Message>>;
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
interface Payment {
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
    readonly content: { readonly kind: ChatContent['kind']; readonly type?: ContentType };
    readonly inbound: Pick<InboundContent, 'type'>;
  };

export type TextlessMessage = TextlessSms | TextlessInboundSms | TextlessChatMessage | TextlessInbound;
type TextlessInboundSms = Omit<InboundSmsDocument, 'inbound'> & {
  readonly inbound: Pick<InboundContent, 'type'>;
};
export type TextlessSms = Omit<MessageDocument, 'text'>;
export type TextlessChatMessage = Omit<ChatMessageDocument, 'content'> & {
  readonly content: {
    readonly kind: ChatContent['kind'];
    readonly type?: ContentType;
    readonly name?: string;
    readonly language?: string;
    readonly reactsTo?: Answered;
  };
};
type TextlessInbound = Omit<InboundMessageDocument, 'inbound'> & {
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

/** What the API shows of an SMS, in either direction. */
const sms: View<TextlessSms | TextlessInboundSms> = {
  summaryFields: ['sender', 'route', 'batch', 'segments', 'direction', 'from', 'inbound.type'],
  statusFields: ['segments', 'direction', 'from'],
  textFields: ['text', 'inbound.body', 'inbound.more'],
  showsCarrier: true,

  operatorOf: ({ operator }) => operator ?? null,

  summary(message) {
    const { direction, sender, route, segments, inbound } = message;
    return direction === 'in'
      ? { ...received(message), type: inbound?.type }
      : { channel: 'sms', sender, route, segments };
  },

  status: (message) => (message.direction === 'in' ? received(message) : { segments: message.segments }),

  whole(message) {
    if ('inbound' in message) return { carrier: message.carrier };
    const {
      encoding,
      validUntil,
      route,
      claim,
      tries,
      inReplyTo,
      resendOf,
      fallbackOf,
      verification,
      parts = [],
    } = message;
    return {
      encoding,
      valid_until: isoTimestamp(validUntil),
      // Customers do not see which other carriers could have carried it.
      path: pathOf(route),
      carrier: claim?.carrier ?? null,
      // JSON leaves it out where there is none.
      in_reply_to: inReplyTo,
      resend_of: resendOf,
      fallback_of: fallbackOf,
      verification_id: verification,
      /** How many submits a carrier refused for now. */
      tries,
      parts: partRecords(parts, carrierMessageId),
    };
  },

  beginning(message) {
    if ('inbound' in message) return [];
    const { _id, template, entityId, route } = message;
    const at = idTime(_id);
    const matched: Happening = { at, what: 'template', more: { template_id: template, entity_id: entityId } };
    return [
      { at, what: 'accepted' },
      ...(template === undefined ? [] : [matched]),
      { at, what: 'path', more: { path: pathOf(route) } },
    ];
  },

  payment(message) {
    if ('inbound' in message) return { credits: 0 };
    const { _id, group, refund } = message;
    return { credits: creditsOf(message), debit: group, refund: refund ?? `ref_${_id}` };
  },

  upstreamId: carrierMessageId,
};

/** Of a received SMS: the sender and the direction. `to` is the account's number. */
function received({ direction, from }: MessageStatus | MessageSummary) {
  return { channel: 'sms', direction, from } as const;
}

/** The key of a part is the carrier's name, then this id (`Part` in shared/messages/document/message.ts). */
function carrierMessageId(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

/** What the API shows of a message of the chat-app channel, in either direction. */
const chatapp: View<TextlessChatMessage | TextlessInbound> = {
  summaryFields: ['direction', 'conversation', 'from', 'content.kind', 'content.type', 'inbound.type'],
  statusFields: [
    ...['direction', 'conversation', 'from'],
    ...['fallback.afterSeconds', 'fallback.due', 'fallback.decided', 'fallback.ended'],
  ],
  textFields: [...CONTENT_TEXTS, 'inbound.body', 'inbound.more', 'fallback.sms.text'],
  // Chat-app messages are claimed under a lease of ours. Its name says nothing to a customer.
  showsCarrier: false,

  operatorOf: ({ operator, deliveredAt }) => operator ?? (deliveredAt === undefined ? null : CHAT_OPERATOR),

  summary: (message) => ({ ...always(message), type: typeOf(message) }),

  status: (message) => ({ ...always(message), ...fallbackRecord(message) }),

  whole(message) {
    if (message.direction === 'in') return { reply_to: message.replyTo?.message };
    const { account, validUntil, path, content, replyTo, heldBack, pricing, verification, tries, parts = [] } = message;
    return {
      valid_until: isoTimestamp(validUntil),
      path,
      reply_to: (replyTo ?? content.reactsTo)?.message,
      template: content.name,
      language: content.language,
      held_back: heldBack,
      verification_id: verification,
      pricing,
      tries,
      parts: partRecords(parts, (key) => providerMessageId(key, account)),
      ...fallbackRecord(message),
    };
  },

  beginning(message) {
    if (message.direction === 'in') return [];
    const { kind, name, language } = message.content;
    const at = idTime(message._id);
    return [
      { at, what: 'accepted' },
      ...(kind === 'template' ? [{ at, what: 'template', more: { template: name, language } } as const] : []),
    ];
  },

  payment(message) {
    if (message.direction === 'in' || message.opened === undefined) return { credits: 0 };
    const { group, credits } = message.opened;
    return { credits, debit: group, refund: `ref_${message.conversation}` };
  },

  upstreamId: providerMessageId,
};

/** The members that lists and statuses have. `from` is null if the provider did not say who wrote. */
function always({ direction, from, conversation }: MessageStatus | MessageSummary) {
  return { channel: 'chatapp', direction, from, conversation_id: conversation } as const;
}

/** What becomes of the SMS in its place; empty if none was asked for. */
function fallbackRecord({ fallback }: { readonly fallback?: Omit<Fallback, 'sms'> }): {
  readonly fallback?: Shown<typeof FallbackShown>;
} {
  if (fallback === undefined) return {};
  const { afterSeconds, due, decided, ended } = fallback;
  const state = ended?.kind ?? (decided ? 'going' : due ? 'waiting' : 'not_needed');
  return {
    fallback: {
      ...{ channel: 'sms', after_seconds: afterSeconds, state },
      due_at: state === 'waiting' && due ? isoTimestamp(due) : undefined,
      because: decided?.because,
      message_id: ended?.kind === 'sent' ? ended.message : undefined,
      ...(ended?.kind === 'refused' && { error_code: ended.code, error_reason: ended.reason }),
    },
  };
}

/**
 * The type of a message. For our messages it is `template`, `text`, `image` …, or `buttons`. For a customer's message it is the
 * provider's name of the type.
 */
function typeOf({ content, inbound }: MessageSummary): string | undefined {
  return inbound?.type ?? content?.type ?? content?.kind;
}

function providerMessageId(key: string, account: AccountId): string {
  return key.slice(chatMessageKey(account, '').length);
}

const VIEWS = { sms, chatapp } as const satisfies Readonly<Record<ChannelName, object>>;

export const ALL_VIEWS: readonly View<TextlessMessage>[] = Object.values(VIEWS);

export function viewOf({ channel }: Pick<StoredMessage, 'channel'>): View<TextlessMessage> {
  return VIEWS[channel];
}
