import type { MagicCustomer } from './magic-customers.ts';
import type { Template } from './templates.ts';

/** One message that the provider took, as its log shows it. */
export interface TakenSend {
  readonly id: string;
  readonly at: number;
  readonly to: string;
  readonly type: string;
  /** The request's body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** What the sender wants back in statuses (`biz_opaque_callback_data`). */
  readonly opaque: string | undefined;
}

/** One request for a send, taken or not. */
export interface SeenSend {
  readonly at: number;
  readonly to: string;
  readonly type: string;
  readonly opaque: string | undefined;
  /** HTTP status of the answer; 0: the connection was cut, or nothing was ever answered. */
  readonly status: number;
  /** The error's code; undefined when it was taken. */
  readonly code: number | undefined;
}

export type ProviderEvent =
  | { readonly kind: 'taken'; readonly send: TakenSend }
  | { readonly kind: 'refused'; readonly to: string; readonly code: number }
  | { readonly kind: 'says'; readonly from: string; readonly text: string }
  | { readonly kind: 'callback-failed'; readonly status: number; readonly tries: number };

export interface ProviderOptions {
  /** TCP port on 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  readonly phoneNumberId: string;
  readonly businessId: string;
  readonly displayNumber: string;
  /** The only access token let in. */
  readonly token: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  /** From the answer to `sent`, from there to `delivered`, from there to `read`; milliseconds. */
  readonly statusDelayMs: number;
  /** From the request to its answer. */
  readonly answerDelayMs: number;
  /** Sends a second above which 130429 is answered. */
  readonly ratePerSecond: number;
  /** Whether free-form messages are refused (131047) unless the customer wrote in the last 24 hours. */
  readonly sessions: boolean;
  readonly templates: readonly Template[];
  /** Templates on one page. */
  readonly pageSize: number;
  /** From a callback that was not answered with 200 to its next try; doubled each time. */
  readonly retryMs: number;
  /** Decides before the magic numbers do; undefined leaves it to them. */
  readonly behaviour: ((to: string, body: Readonly<Record<string, unknown>>) => MagicCustomer | undefined) | undefined;
  readonly onEvent: ((event: ProviderEvent) => void) | undefined;
}

export const PROVIDER_DEFAULTS = {
  port: 0,
  phoneNumberId: '106540352242922',
  businessId: '102290129340398',
  displayNumber: '15550783881',
  token: 'simulated-token',
  appSecret: 'simulated-app-secret',
  verifyToken: 'simulated-verify-token',
  statusDelayMs: 300,
  answerDelayMs: 0,
  ratePerSecond: Number.POSITIVE_INFINITY,
  sessions: true,
  pageSize: 3,
  retryMs: 1_000,
  behaviour: undefined,
  onEvent: undefined,
} as const satisfies Partial<ProviderOptions>;
