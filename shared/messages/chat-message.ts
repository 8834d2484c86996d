import type { ConversationId, GroupId, MessageId } from '../runtime/ids.ts';
import type { StoredMessage } from './message.ts';

/** Where messages of the chat-app channel wait: a path that no carrier serves. Its accounts are claimed one by one. */
export const CHAT_PATH = 'chatapp';
export const CHAT_LANE = 0;

/** A message to a customer of the chat-app channel. */
export interface ChatMessageDocument extends StoredMessage {
  readonly channel: 'chatapp';
  readonly direction: 'out';
  /** In which it goes (conversations/). Charged once, with the message that opened it. */
  readonly conversation: ConversationId;
  /** There when it opened the conversation: the debit that paid for it, and what was charged. */
  readonly opened?: { readonly group: GroupId; readonly credits: number };
  /** There when it costs nothing: the message that opened the conversation. */
  readonly rides?: MessageId;
  readonly path: typeof CHAT_PATH;
  readonly lane: typeof CHAT_LANE;
  readonly content: ChatContent;
}

/** "Chat-app messages (request fields)": exactly what was asked for. */
export type ChatContent =
  | {
      readonly kind: 'template';
      readonly name: string;
      readonly language: string;
      /** Values of the body's variables, in order. */
      readonly params: readonly string[];
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'media'; readonly type: MediaType; readonly url: string; readonly caption?: string }
  | { readonly kind: 'buttons'; readonly body: string; readonly buttons: readonly ChatButton[] };

export const MEDIA_TYPES = ['image', 'video', 'audio', 'document', 'sticker'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

export interface ChatButton {
  readonly id: string;
  readonly title: string;
}

/** A message from a customer. It is stored in its only state, `received`; its id derives from the provider's. */
export interface InboundMessageDocument extends StoredMessage {
  readonly channel: 'chatapp';
  readonly direction: 'in';
  readonly state: 'received';
  /** Digits; the provider may leave it out (facts: chat-app). `to` is the business's own number. */
  readonly from: string | null;
  /** The provider's id. */
  readonly upstreamId: string;
  readonly inbound: InboundContent;
}

/** What the customer sent: the type by the provider's name, `body` for people and the specification's field, and the type's own members. */
export interface InboundContent {
  /** `text`, `image`, `button`, `interactive`, …: also types that we do not know. */
  readonly type: string;
  /** The text, the caption, the title of the button; empty where the type has none. */
  readonly body: string;
  /** The other members as the provider sent them, unread: the type's own below its name, `context` …: `{ image: { id: '1' } }`. */
  readonly more?: Readonly<Record<string, unknown>>;
}
