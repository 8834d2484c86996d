import type { MagicCustomer } from './magic-customers.ts';
import type { Template } from './templates.ts';

/** A message that the provider accepted. */
export interface TakenSend {
  readonly id: string;
  readonly at: number;
  /** The business's number, digits only. */
  readonly from: string;
  readonly to: string;
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The sender's text for statuses (`biz_opaque_callback_data`). */
  readonly opaque: string | undefined;
}

/** A request to send, accepted or refused. */
export interface SeenSend {
  readonly at: number;
  readonly to: string;
  readonly type: string;
  readonly opaque: string | undefined;
  /** The answer's HTTP status; 0 if the connection was cut or no answer was sent. */
  readonly status: number;
  /** Undefined for an accepted message. */
  readonly code: number | undefined;
}

export interface ReadMark {
  readonly id: string;
  /** The customer saw a typing indicator. */
  readonly typing: boolean;
}

export type ProviderEvent =
  | ({ readonly kind: 'read' } & ReadMark)
  | { readonly kind: 'taken'; readonly send: TakenSend }
  | { readonly kind: 'refused'; readonly to: string; readonly code: number }
  | { readonly kind: 'says'; readonly from: string; readonly text: string }
  | { readonly kind: 'template'; readonly name: string; readonly status: string }
  | { readonly kind: 'callback-failed'; readonly status: number; readonly tries: number };

export interface MoreNumber {
  readonly phoneNumberId: string;
  readonly businessId: string;
  readonly displayNumber: string;
  /** The business account's templates, given with its first number. */
  readonly templates?: readonly Template[];
}

export interface ProviderOptions {
  /** TCP port on 127.0.0.1. 0: the system chooses. */
  readonly port: number;
  readonly phoneNumberId: string;
  readonly businessId: string;
  /** The app for uploads of template samples. */
  readonly appId: string;
  readonly displayNumber: string;
  /** Further numbers with the same app, token and app secret. */
  readonly more: readonly MoreNumber[];
  /** The only accepted access token. */
  readonly token: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  /** Pauses before `sent`, `delivered` and `read`, in milliseconds. */
  readonly statusDelayMs: number;
  /** The most sends in a second. Further ones are refused with 130429. */
  readonly ratePerSecond: number;
  /** Whether free-form messages need a customer's message in the last 24 hours (else 131047). */
  readonly sessions: boolean;
  readonly templates: readonly Template[];
  readonly reviewMs: number;
  /** Templates on one page of the list. */
  readonly pageSize: number;
  /** Lifetimes of a file's URL and of the file, in milliseconds. */
  readonly mediaUrlMs: number;
  readonly mediaKeptMs: number;
  /** Host and port of files' URLs. Undefined: those of the request. */
  readonly mediaHost: string | undefined;
  /** Pause before an unacknowledged callback is repeated, in milliseconds. Doubled after each try. */
  readonly retryMs: number;
  /** Undefined leaves the decision to the magic numbers. */
  readonly behaviour: ((to: string, body: Readonly<Record<string, unknown>>) => MagicCustomer | undefined) | undefined;
  readonly onEvent: ((event: ProviderEvent) => void) | undefined;
  /** Gets each JSON request's path and body, and each callback's body when it is first posted. */
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
