import type { WholeText } from '../smpp/submit.ts';
import type { DefaultAlphabet } from '../smpp/text.ts';
import type { Behaviour, IdForm, ReceiptDialect, ReceiptForm } from './receipts.ts';

/** `in`: from the client to the SMSC. `out`: from the SMSC to the client. */
export type Direction = 'in' | 'out';

export type SmscEvent =
  | { readonly kind: 'bound' | 'unbound'; readonly sessionId: number; readonly systemId: string; readonly as: string }
  | { readonly kind: 'bind-refused'; readonly sessionId: number; readonly systemId: string; readonly status: number }
  | { readonly kind: 'bad-frame'; readonly sessionId: number; readonly what: string }
  | { readonly kind: 'text'; readonly text: WholeText };

/** {@link SMSC_DEFAULTS} has the defaults. */
export interface SmscOptions {
  /** TCP port on 127.0.0.1. 0: the system chooses. */
  readonly port: number;
  /** From the acceptance of a message to its receipt. */
  readonly receiptDelayMs: number;
  /** From a submit_sm to its answer. */
  readonly responseDelayMs: number;
  /** The most submits in a second. Further ones are refused with 0x58 (throttled). */
  readonly ratePerSecond: number;
  readonly idForm: IdForm;
  /** For texts with data_coding 0. */
  readonly defaultAlphabet: DefaultAlphabet;
  readonly receiptForm: ReceiptForm;
  readonly receiptDialect: ReceiptDialect;
  /** The only system_id that may bind. Empty: any. */
  readonly systemId: string;
  /** For a bind. Empty: any password is accepted. */
  readonly password: string;
  /** Of the dates in receipts, in minutes east of UTC. */
  readonly utcOffsetMinutes: number;
  /** The most unanswered deliver_sm on one session. */
  readonly deliverWindow: number;
  /** An unanswered deliver_sm is resent after this time. */
  readonly deliverTimeoutMs: number;
  /** Pause before a refused or unanswered deliver_sm is resent. */
  readonly retryDelayMs: number;
  /** Sends of a deliver_sm before it is given up. */
  readonly deliverTries: number;
  /** The most waiting or unanswered receipts. Above it, submits are refused with 0x14 (queue full). */
  readonly maxPending: number;
  /** Accepted messages to remember for `messages()`, `texts()` and query_sm. */
  readonly keepMessages: number;
  /** Interval of enquire_link on bound sessions. 0: never. */
  readonly enquireLinkMs: number;
  /** File to which each accepted message is appended as a line of JSON before its answer. Empty: none. */
  readonly log: string;
  /** Whether receipts wait until `release()`. */
  readonly holdReceipts: boolean;
  /** Undefined leaves the decision to the magic numbers. */
  readonly behaviour: Behaviour | undefined;
  /** Called with each PDU read or about to be written. The bytes are valid only during the call. */
  readonly onFrame: ((direction: Direction, bytes: Buffer, sessionId: number) => void) | undefined;
  readonly onEvent: ((event: SmscEvent) => void) | undefined;
}

export const SMSC_DEFAULTS: SmscOptions = {
  port: 0,
  receiptDelayMs: 500,
  responseDelayMs: 0,
  ratePerSecond: Number.POSITIVE_INFINITY,
  idForm: 'hex',
  defaultAlphabet: 'gsm7',
  receiptForm: 'both',
  receiptDialect: 'appendix-b',
  systemId: '',
  password: '',
  utcOffsetMinutes: 0,
  deliverWindow: 100,
  deliverTimeoutMs: 10_000,
  retryDelayMs: 1_000,
  deliverTries: 50,
  maxPending: 200_000,
  keepMessages: 10_000,
  enquireLinkMs: 0,
  log: '',
  holdReceipts: false,
  behaviour: undefined,
  onFrame: undefined,
  onEvent: undefined,
};
