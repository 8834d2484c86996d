import type { ConversationId, GroupId, MessageId } from '../../platform/runtime/ids.ts';
import type { MessageDraft, StoredMessage } from './message.ts';
import { recipientProblem } from './recipient.ts';

/** No carrier serves this path: the chatapp worker claims its messages account by account. */
export const CHAT_PATH = 'chatapp';
export const CHAT_LANE = 0;

/** A number of a business on the chat-app channel: digits, country code first. */
export type BusinessNumber = `${number}`;

export function isBusinessNumber(text: string): text is BusinessNumber {
  return recipientProblem(text) === undefined;
}

export interface ChatMessageDocument extends StoredMessage {
  readonly channel: 'chatapp';
  readonly direction: 'out';
  readonly from: BusinessNumber;
  /** A conversation (money/conversations/) is charged once, with the message that opened it. */
  readonly conversation: ConversationId;
  /** The name that the conversation was opened under, if another one (money/conversations/person.ts). */
  readonly customer?: string;
  /** Present when this message opened the conversation: the debit that paid for it, and its price. */
  readonly opened?: { readonly group: GroupId; readonly credits: number };
  /** Present when this message is free: the message that opened the conversation. */
  readonly includedWith?: MessageId;
  /** Why the provider holds it back: `held_for_quality_assessment`, `paused`. Kept when it goes on. */
  readonly heldBack?: string;
  readonly pricing?: Pricing;
  /** By the provider's price list, like `0.0068 USD`, once delivered. For operators only. */
  readonly cost?: string;
  readonly path: typeof CHAT_PATH;
  readonly lane: typeof CHAT_LANE;
  readonly content: ChatContent;
  readonly replyTo?: Answered;
  /** The SMS that goes in its place if it fails or is not delivered in time. */
  readonly fallback?: Fallback;
}

/** A message of either direction that another one refers to: our id and the provider's. */
export interface Answered {
  readonly message: MessageId;
  readonly upstreamId: string;
}

/** The provider's words, which are open lists: others come every year. */
export interface Pricing {
  readonly billable?: boolean;
  /** `PMP`: by message. Older: `CBP`, `NBP`. */
  readonly model?: string;
  /** `regular`, `free_customer_service`, `free_entry_point`. */
  readonly type?: string;
  /** `marketing`, `utility`, `authentication`, `service` … */
  readonly category?: string;
}

/** Where the provider does not say so, everything that is not called free is billed. */
export function isBilled({ billable, type = '' }: Pricing): boolean {
  return billable ?? !type.startsWith('free');
}

/** Checked and priced when the chat-app message is accepted, paid for when it goes. */
export interface Fallback {
  readonly afterSeconds: number;
  readonly sms: FallbackSms;
  /** When to look at it. Unset when nothing is left to do: the message arrived, or `ended`. */
  readonly due?: Date;
  /** From then on the SMS goes, whatever is heard of the message. */
  readonly decided?: { readonly at: Date; readonly because: 'failed' | 'not_delivered' };
  readonly ended?: FallbackEnd;
}

export type FallbackEnd =
  | { readonly kind: 'sent'; readonly message: MessageId }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string };

export type FallbackSms = Pick<
  MessageDraft,
  'sender' | 'route' | 'lane' | 'text' | 'encoding' | 'segments' | 'template' | 'entityId' | 'credits'
>;

/** As requested ("Chat-app messages (request fields)"). */
export type ChatContent =
  | {
      readonly kind: 'template';
      readonly name: string;
      readonly language: string;
      readonly params: readonly string[];
      /** The values by component. Absent when `params` are only the values of numbered variables of the body. */
      readonly filled?: FilledTemplate;
    }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'media'; readonly type: MediaType; readonly url: string; readonly caption?: string }
  | ({ readonly kind: 'buttons'; readonly body: string; readonly buttons: readonly ChatButton[] } & Frame)
  | InteractiveContent
  | { readonly kind: 'location'; readonly location: Place }
  | { readonly kind: 'contacts'; readonly contacts: readonly ChatContact[] }
  /** An empty emoji takes the reaction back. */
  | { readonly kind: 'reaction'; readonly emoji: string; readonly reactsTo: Answered };

/** Every member of a content that holds what was written: removed with the text. */
export const CONTENT_TEXTS = [
  ...['text', 'body', 'header', 'footer', 'buttons', 'caption', 'url', 'params', 'filled'],
  ...['action', 'location', 'contacts', 'emoji'],
].map((name) => `content.${name}`);

/** Header and footer of an interactive message. */
export interface Frame {
  readonly header?: FrameHeader;
  readonly footer?: string;
}

export type FrameHeader =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image' | 'video'; readonly url: string }
  | { readonly kind: 'document'; readonly url: string; readonly filename: string };

/** Answered by a touch, other than by reply buttons. Each type has what its action needs. */
export type InteractiveContent = { readonly kind: 'interactive'; readonly body?: string } & Frame &
  (
    | {
        readonly type: 'list';
        readonly action: { readonly button: string; readonly sections: readonly ListSection[] };
      }
    | { readonly type: 'url'; readonly action: { readonly button: string; readonly url: string } }
    | { readonly type: 'flow'; readonly action: { readonly button: string } & Flow }
    | { readonly type: 'location_request' }
    /** Asks a customer who shows no number for it. */
    | { readonly type: 'contact_request' }
    | { readonly type: 'product'; readonly action: { readonly catalog: string; readonly product: string } }
    | {
        readonly type: 'product_list';
        readonly action: { readonly catalog: string; readonly sections: readonly ProductSection[] };
      }
    /** `product`: whose picture is shown; absent: the catalog's first. */
    | { readonly type: 'catalog'; readonly action: { readonly product?: string } }
  );

export const INTERACTIVE_TYPES = [
  'list',
  'url',
  'flow',
  'location_request',
  'contact_request',
  'product',
  'product_list',
  'catalog',
] as const satisfies readonly InteractiveContent['type'][];

export interface ListSection {
  readonly title?: string;
  readonly rows: readonly { readonly id: string; readonly title: string; readonly description?: string }[];
}

/** `products`: their ids in the catalog (the provider's retailer ids). */
export interface ProductSection {
  readonly title?: string;
  readonly products: readonly string[];
}

export interface Flow {
  readonly flow: { readonly id: string } | { readonly name: string };
  /** Comes back with the customer's answers. */
  readonly token?: string;
  /** The first screen and its data; absent: the flow's own server decides, or its first screen opens. */
  readonly screen?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** The flow's own server is asked what to show. */
  readonly asksServer?: true;
  readonly draft?: true;
}

/** In degrees, as decimal numbers. */
export interface Place {
  readonly latitude: string;
  readonly longitude: string;
  readonly name?: string;
  readonly address?: string;
}

/** In the provider's own shape (WhatsApp Cloud API, "Contacts messages"). */
export interface ChatContact {
  readonly name: Readonly<Record<string, string>> & { readonly formatted_name: string };
  readonly phones?: readonly Readonly<Record<string, string>>[];
  readonly emails?: readonly Readonly<Record<string, string>>[];
  readonly addresses?: readonly Readonly<Record<string, string>>[];
  readonly urls?: readonly Readonly<Record<string, string>>[];
  readonly org?: Readonly<Record<string, string>>;
  readonly birthday?: string;
}

/** A template's components with their values. Components without values are left out. */
export interface FilledTemplate {
  readonly header?: FilledHeader;
  readonly body?: readonly FilledVariable[];
  readonly buttons?: readonly FilledButton[];
  readonly offerExpiresAt?: Date;
  readonly cards?: readonly FilledTemplate[];
}

/** `name`: for named variables. */
export interface FilledVariable {
  readonly text: string;
  readonly name?: string;
}

export type FilledHeader =
  | { readonly kind: 'text'; readonly variables: readonly FilledVariable[] }
  | { readonly kind: 'image' | 'video'; readonly url: string }
  | { readonly kind: 'document'; readonly url: string; readonly filename: string }
  | { readonly kind: 'product'; readonly catalog: string; readonly product: string }
  | ({ readonly kind: 'location' } & Required<Place>);

/** `index`: the button's place among all buttons of the template, from 0. */
export type FilledButton = { readonly index: number } & (
  | { readonly kind: 'quick_reply'; readonly payload: string }
  | { readonly kind: 'url'; readonly suffix: FilledVariable }
  | { readonly kind: 'copy_code'; readonly code: string }
  | { readonly kind: 'flow' }
  /** `product`: whose picture is shown. */
  | { readonly kind: 'catalog'; readonly product: string }
  | { readonly kind: 'mpm'; readonly product: string; readonly sections: readonly ProductSection[] }
);

/** Tells the contents of a kind apart, where it has several types. */
export type ContentType = MediaType | InteractiveContent['type'];

export const MEDIA_TYPES = ['image', 'video', 'audio', 'document', 'sticker'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

export interface ChatButton {
  readonly id: string;
  readonly title: string;
}

/** A message from a customer, always `received`. Its id derives from the provider's. */
export interface InboundMessageDocument extends StoredMessage {
  readonly channel: 'chatapp';
  readonly direction: 'in';
  readonly state: 'received';
  /** Digits, or a user id; null when the provider leaves both out (WhatsApp Cloud API, Webhooks: messages). */
  readonly from: string | null;
  readonly to: BusinessNumber;
  readonly upstreamId: string;
  readonly inbound: InboundContent;
  /** Our message that it quotes, reacts to, or whose button was pressed; absent if unknown. */
  readonly replyTo?: Answered;
}

/** What the customer sent: `body` is the readable text (the specification's field). */
export interface InboundContent {
  /** The provider's name: `text`, `image`, `button`, `interactive` and so on, including types that we do not know. */
  readonly type: string;
  /** The text, the caption, the title of the button; empty where the type has none. */
  readonly body: string;
  /** The provider's other members, unread, the type's own below its name: `{ image: { id: '1' } }`. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** As a customer sees it: the link's last part if it names a PDF. Phones choose the icon by the extension. */
export function fileNameOf(url: string): string {
  const last = URL.canParse(url) ? new URL(url).pathname.split('/').at(-1) : undefined;
  return last !== undefined && /^[\w.-]{1,200}\.pdf$/i.test(last) ? last : 'document.pdf';
}
