import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import { CHAT_OPERATOR } from '../../../shared/messages/channels/channels.ts';
import { CONTENT_TEXTS, type Fallback } from '../../../shared/messages/document/chat-message.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime } from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import type { FallbackShown } from './shapes.ts';
import {
  type MessageStatus,
  type MessageSummary,
  partRecords,
  type TextlessChatMessage,
  type TextlessInbound,
  type View,
} from './view.ts';

/** What the API shows of a message of the chat-app channel, in either direction. */
export const chatapp: View<TextlessChatMessage | TextlessInbound> = {
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
