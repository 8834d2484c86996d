import type { ConversationId, GroupId, MessageId } from '../../platform/runtime/ids.ts';
import type { StoredMessage } from './message.ts';

/** The path of chat-app messages. No carrier serves it: the chatapp worker claims them account by account. */
export const CHAT_PATH = 'chatapp';
export const CHAT_LANE = 0;

/** A message to a customer of the chat-app channel. */
export interface ChatMessageDocument extends StoredMessage {
  readonly channel: 'chatapp';
  readonly direction: 'out';
  /** The conversation that it belongs to (money/conversations/). A conversation is charged once, with the message that opened it. */
  readonly conversation: ConversationId;
  /** The number that the conversation was opened under, if that is another one of the same person than `to` (money/conversations/names.ts). */
  readonly customer?: string;
  /** Present when this message opened the conversation: the debit that paid for it, and its price. */
  readonly opened?: { readonly group: GroupId; readonly credits: number };
  /** Present when this message is free: the message that opened the conversation. */
  readonly includedWith?: MessageId;
  readonly path: typeof CHAT_PATH;
  readonly lane: typeof CHAT_LANE;
  readonly content: ChatContent;
}

/** The content exactly as requested ("Chat-app messages (request fields)"). */
export type ChatContent =
  | {
      readonly kind: 'template';
      readonly name: string;
      readonly language: string;
      /** Values of the template's variables, in order. */
      readonly params: readonly string[];
      /** The values by component. Absent when `params` are only the values of numbered variables of the body. */
      readonly filled?: FilledTemplate;
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'media'; readonly type: MediaType; readonly url: string; readonly caption?: string }
  | { readonly kind: 'buttons'; readonly body: string; readonly buttons: readonly ChatButton[] };

/** A template's components with their values. Components that take no values are left out. */
export interface FilledTemplate {
  readonly header?: FilledHeader;
  readonly body?: readonly FilledVariable[];
  /** In the order of their indexes. */
  readonly buttons?: readonly FilledButton[];
}

/** `name` is set if the variable has a name. */
export interface FilledVariable {
  readonly text: string;
  readonly name?: string;
}

export type FilledHeader =
  | { readonly kind: 'text'; readonly variables: readonly FilledVariable[] }
  | { readonly kind: 'image' | 'video'; readonly url: string }
  | { readonly kind: 'document'; readonly url: string; readonly filename: string }
  /** Latitude and longitude in degrees, as decimal numbers. */
  | {
      readonly kind: 'location';
      readonly latitude: string;
      readonly longitude: string;
      readonly name: string;
      readonly address: string;
    };

/** `index`: the button's place among all buttons of the template, from 0. */
export type FilledButton = { readonly index: number } & (
  | { readonly kind: 'quick_reply'; readonly payload: string }
  | { readonly kind: 'url'; readonly suffix: FilledVariable }
  | { readonly kind: 'copy_code'; readonly code: string }
  | { readonly kind: 'flow' }
);

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
  /**
   * Digits, or the user id of a customer who shows no number; null when the provider leaves both out (WhatsApp Cloud API, Webhooks:
   * messages). `to` is the business's own number.
   */
  readonly from: string | null;
  /** The provider's id. */
  readonly upstreamId: string;
  readonly inbound: InboundContent;
}

/**
 * What the customer sent: the provider's name of the type, `body` as readable text (the specification's field), and the type's
 * own members.
 */
export interface InboundContent {
  /** `text`, `image`, `button`, `interactive` and so on, including types that we do not know. */
  readonly type: string;
  /** The text, the caption, the title of the button; empty where the type has none. */
  readonly body: string;
  /**
   * The provider's other members, unread. The type's own are below its name, others such as `context` beside it: `{ image: { id:
   * '1' } }`.
   */
  readonly more?: Readonly<Record<string, unknown>>;
}
