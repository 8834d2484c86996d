import type { WholeText } from '../smpp/reassembly.ts';
import type { DefaultAlphabet } from '../smpp/text.ts';
import type { IdForm } from './message-ids.ts';
import type { Behaviour } from './outcome.ts';
import type { ReceiptDialect } from './receipt-dialects.ts';
import type { ReceiptForm } from './receipts.ts';

/** `in`: from the client to the SMSC. `out`: from the SMSC to the client. */
export type Direction = 'in' | 'out';

/** What a running SMSC tells those who watch it. */
export type SmscEvent =
  | { readonly kind: 'bound' | 'unbound'; readonly sessionId: number; readonly systemId: string; readonly as: string }
  | { readonly kind: 'bind-refused'; readonly sessionId: number; readonly systemId: string; readonly status: number }
  | { readonly kind: 'bad-frame'; readonly sessionId: number; readonly what: string }
  | { readonly kind: 'text'; readonly text: WholeText };

/** Everything that can be set on a simulated SMSC; see {@link SMSC_DEFAULTS}. */
export interface SmscOptions {
  /** TCP port on 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  /** From the acceptance of a message to its receipt. */
  readonly receiptDelayMs: number;
  /** A random part added to each receipt's delay. */
  readonly receiptJitterMs: number;
  /** From a submit_sm to its answer. */
  readonly responseDelayMs: number;
  /** Submits above this many in a second get 0x58 (throttled). */
  readonly ratePerSecond: number;
  readonly idForm: IdForm;
  /** What it reads data_coding 0 as. */
  readonly defaultAlphabet: DefaultAlphabet;
  readonly receiptForm: ReceiptForm;
  readonly receiptDialect: ReceiptDialect;
  /** The only system_id let in; empty: all. */
  readonly systemId: string;
  /** Its password; empty: any. */
  readonly password: string;
  /** Time zone of the dates in receipts, minutes east of UTC. */
  readonly utcOffsetMinutes: number;
  /** deliver_sm that may wait for their answer on one session. */
  readonly deliverWindow: number;
  /** A deliver_sm without an answer for so long is sent again. */
  readonly deliverTimeoutMs: number;
  /** From a refused or unanswered deliver_sm to its next try. */
  readonly retryDelayMs: number;
  /** Tries of one deliver_sm before it is given up. */
  readonly deliverTries: number;
  /** Receipts that may wait or be under way; above it submits get 0x14 (queue full). */
  readonly maxPending: number;
  /** Accepted messages to remember for `messages()`, `texts()` and query_sm. */
  readonly keepMessages: number;
  /** A connection on which nothing comes for so long is closed; 0: never. */
  readonly idleTimeoutMs: number;
  /** Every so often the SMSC itself sends enquire_link on bound sessions; 0: never. */
  readonly enquireLinkMs: number;
  /** Longest command_length taken; a longer one ends the connection. */
  readonly maxPduOctets: number;
  /** File to which every accepted message is appended as one line of JSON, before it is answered; empty: none. */
  readonly log: string;
  /** Receipts wait until `release()`. */
  readonly holdReceipts: boolean;
  /** Asked before the magic numbers. */
  readonly behaviour: Behaviour | undefined;
  /** Sees each PDU as it was read or is about to be written. The bytes are only good during the call. */
  readonly onFrame: ((direction: Direction, bytes: Buffer, sessionId: number) => void) | undefined;
  readonly onEvent: ((event: SmscEvent) => void) | undefined;
}

export const SMSC_DEFAULTS: SmscOptions = {
  port: 0,
  receiptDelayMs: 500,
  receiptJitterMs: 0,
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
  idleTimeoutMs: 0,
  enquireLinkMs: 0,
  maxPduOctets: 70_000,
  log: '',
  holdReceipts: false,
  behaviour: undefined,
  onFrame: undefined,
  onEvent: undefined,
};
