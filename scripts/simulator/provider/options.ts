import type { MagicCustomer } from './magic-customers.ts';
import type { Template } from './templates.ts';

/** A message that the provider accepted, as its log shows it. */
export interface TakenSend {
  readonly id: string;
  readonly at: number;
  /** The business's number that it was sent from, digits. */
  readonly from: string;
  readonly to: string;
  readonly type: string;
  /** The body of the request. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The text that the sender wants to see in statuses (`biz_opaque_callback_data`). */
  readonly opaque: string | undefined;
}

/** A request for a send, accepted or refused. */
export interface SeenSend {
  readonly at: number;
  readonly to: string;
  readonly type: string;
  readonly opaque: string | undefined;
  /** HTTP status of the answer. 0 if the connection was cut, or if no answer was sent. */
  readonly status: number;
  /** Code of the error. Undefined when the message was accepted. */
  readonly code: number | undefined;
}

/** A message of a customer that was marked as read. */
export interface ReadMark {
  readonly id: string;
  /** The customer was shown that somebody writes. */
  readonly typing: boolean;
}

export type ProviderEvent =
  | ({ readonly kind: 'read' } & ReadMark)
  | { readonly kind: 'taken'; readonly send: TakenSend }
  | { readonly kind: 'refused'; readonly to: string; readonly code: number }
  | { readonly kind: 'says'; readonly from: string; readonly text: string }
  | { readonly kind: 'template'; readonly name: string; readonly status: string }
  | { readonly kind: 'callback-failed'; readonly status: number; readonly tries: number };

/** A further number, of the same business account or another one. */
export interface MoreNumber {
  readonly phoneNumberId: string;
  readonly businessId: string;
  readonly displayNumber: string;
  /** Of its business account, if that has no number before it. */
  readonly templates?: readonly Template[];
}

export interface ProviderOptions {
  /** TCP port on 127.0.0.1. With 0 the system chooses a free one. */
  readonly port: number;
  readonly phoneNumberId: string;
  readonly businessId: string;
  /** The app that sample files of templates are uploaded to. */
  readonly appId: string;
  readonly displayNumber: string;
  /** Further numbers, with the same app, token and app secret. */
  readonly more: readonly MoreNumber[];
  /** The only access token that is accepted. */
  readonly token: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  /** Pause in milliseconds between the answer and `sent`, between `sent` and `delivered`, and between `delivered` and `read`. */
  readonly statusDelayMs: number;
  /** The most sends in a second. Further ones are refused with 130429. */
  readonly ratePerSecond: number;
  /** True: free-form messages are refused (131047) unless the customer wrote in the last 24 hours. */
  readonly sessions: boolean;
  readonly templates: readonly Template[];
  /** How long a review of a template takes, in milliseconds. */
  readonly reviewMs: number;
  /** Number of templates on one page of the list. */
  readonly pageSize: number;
  /** How long the address of a customer's file lives, and how long the file is kept, in milliseconds. */
  readonly mediaUrlMs: number;
  readonly mediaKeptMs: number;
  /** Host and port in the addresses of files. Undefined: those that the request was sent to. */
  readonly mediaHost: string | undefined;
  /** Pause in milliseconds before a callback that was not answered with 200 is tried again. Doubled after each try. */
  readonly retryMs: number;
  /** Decides what happens to a message. Undefined leaves the decision to the magic numbers. */
  readonly behaviour: ((to: string, body: Readonly<Record<string, unknown>>) => MagicCustomer | undefined) | undefined;
  readonly onEvent: ((event: ProviderEvent) => void) | undefined;
  /** Gets the path and body of each request with JSON, and the body of each callback when it is posted first. */
  readonly onRequest: ((path: string, body: object) => void) | undefined;
  readonly onPost: ((body: object) => void) | undefined;
}

export const PROVIDER_DEFAULTS = {
  port: 0,
  phoneNumberId: '106540352242922',
  businessId: '102290129340398',
  appId: '2871649312847501',
  displayNumber: '15550783881',
  more: [{ phoneNumberId: '106540352242923', businessId: '102290129340399', displayNumber: '15550783882' }],
  token: 'simulated-token',
  appSecret: 'simulated-app-secret',
  verifyToken: 'simulated-verify-token',
  statusDelayMs: 300,
  ratePerSecond: Number.POSITIVE_INFINITY,
  sessions: true,
  reviewMs: 3_000,
  pageSize: 3,
  mediaUrlMs: 300_000,
  mediaKeptMs: 7 * 86_400_000,
  mediaHost: undefined,
  retryMs: 1_000,
  behaviour: undefined,
  onEvent: undefined,
  onRequest: undefined,
  onPost: undefined,
} as const satisfies Partial<ProviderOptions>;
