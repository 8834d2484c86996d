import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import { CHAT_OPERATOR } from '../../../shared/messages/channels/channels.ts';
import type { InboundSmsDocument } from '../../../shared/messages/document/any-message.ts';
import type { ChannelName } from '../../../shared/messages/document/channel.ts';
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
import type { MessageDocument, Part, StoredMessage } from '../../../shared/messages/document/message.ts';
import { pathOf } from '../../../shared/messages/document/routing.ts';
import type { ChangeId } from '../../../shared/money/accounts/account.ts';
import { creditsOf } from '../../../shared/money/accounts/prices.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime } from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import type { DeliveryStatus, FallbackShown, Happened, Message, Part as PartShape, WholeMessage } from './shapes.ts';

/**
 * How the API shows the messages of a channel: readers (message-list.ts, status.ts, whole.ts) ask what to read, records
 * and timeline what to show.
 */
interface View<Stored extends TextlessMessage> {
  /** In addition to the common fields. */
  readonly summaryFields: readonly string[];
  readonly statusFields: readonly string[];
  /** Fields with the message's text. GET /v2/messages/{id} reads all others. */
  readonly textFields: readonly string[];
  /** Whether customers see the name under which the message was claimed. */
  readonly showsCarrier: boolean;
  /** "operator: name of the carrier that delivered" ("Delivery status record"). Null while unknown. */
  operatorOf(message: Pick<StoredMessage, 'operator' | 'deliveredAt'>): string | null;
  summary(message: MessageSummary): Pick<Shown<typeof Message>, 'channel'> & Partial<Shown<typeof Message>>;
  status(message: MessageStatus): Partial<Shown<typeof DeliveryStatus>>;
  /** Members of GET /v2/messages/{id} about destination and content. Empty for received messages. */
  whole(message: Stored): Partial<Shown<typeof WholeMessage>>;
  /** The timeline up to the payment. Empty for received messages. */
  beginning(message: Stored): readonly Happening[];
  payment(message: Stored): Payment;
  /** The carrier's or provider's message id, from a part's key. */
  upstreamId(key: string, account: AccountId): string;
}

/** What this message cost. A debit or refund can cover several messages. */
interface Payment {
  readonly credits: number;
  readonly debit?: ChangeId;
  readonly refund?: ChangeId;
}

export interface Happening {
  readonly at: Date;
  readonly what: Shown<typeof Happened>['what'];
  readonly more?: Omit<Shown<typeof Happened>, 'at' | 'what'>;
}

/** Common fields of lists. Never the text. */
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

/** Common fields of GET /v2/status. Never the text. */
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

/** Fields that only some channels have. */
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

/** `idOf` extracts the carrier's message id from a part's key. */
export function partRecords(parts: readonly Part[], idOf: (key: string) => string): Shown<typeof PartShape>[] {
  return parts.map(({ key, state, error }, index) => ({
    number: index + 1,
    state,
    carrier_message_id: key === undefined ? null : idOf(key),
    error: error ?? null,
  }));
}

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
      // JSON omits absent ones.
      in_reply_to: inReplyTo,
      resend_of: resendOf,
      fallback_of: fallbackOf,
      verification_id: verification,
      /** How often a carrier refused it temporarily. */
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

function received({ direction, from }: MessageStatus | MessageSummary) {
  return { channel: 'sms', direction, from } as const;
}

/** A part's key is the carrier's name, then this id (`Part` in shared/messages/document/message.ts). */
function carrierMessageId(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

const chatapp: View<TextlessChatMessage | TextlessInbound> = {
  summaryFields: ['direction', 'conversation', 'from', 'content.kind', 'content.type', 'inbound.type'],
  statusFields: [
    ...['direction', 'conversation', 'from'],
    ...['fallback.afterSeconds', 'fallback.due', 'fallback.decided', 'fallback.ended'],
  ],
  textFields: [...CONTENT_TEXTS, 'inbound.body', 'inbound.more', 'fallback.sms.text'],
  // Chat-app messages are claimed under an internal lease, whose name means nothing to customers.
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

/** Members of lists and statuses. `from` is null if the provider did not say who wrote. */
function always({ direction, from, conversation }: MessageStatus | MessageSummary) {
  return { channel: 'chatapp', direction, from, conversation_id: conversation } as const;
}

/** The replacing SMS; empty if none was requested. */
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

/** `template`, `text`, `image`, `buttons` …; of a received message the provider's name of the type. */
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
