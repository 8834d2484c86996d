import type { WholeText } from '../smpp/submit.ts';
import type { DefaultAlphabet } from '../smpp/text.ts';
import type { Behaviour, IdForm, ReceiptDialect, ReceiptForm } from './receipts.ts';

/** `in`: from the client to the SMSC. `out`: from the SMSC to the client. */
export type Direction = 'in' | 'out';

/** The events that a running SMSC reports. */
export type SmscEvent =
  | { readonly kind: 'bound' | 'unbound'; readonly sessionId: number; readonly systemId: string; readonly as: string }
  | { readonly kind: 'bind-refused'; readonly sessionId: number; readonly systemId: string; readonly status: number }
  | { readonly kind: 'bad-frame'; readonly sessionId: number; readonly what: string }
  | { readonly kind: 'text'; readonly text: WholeText };

/** Every setting of a simulated SMSC. {@link SMSC_DEFAULTS} has the defaults. */
export interface SmscOptions {
  /** TCP port on 127.0.0.1. With 0 the system chooses a free one. */
  readonly port: number;
  /** Time between the acceptance of a message and its receipt. */
  readonly receiptDelayMs: number;
  /** Time between a submit_sm and its answer. */
  readonly responseDelayMs: number;
  /** The most submits in a second. Further ones are refused with 0x58 (throttled). */
  readonly ratePerSecond: number;
  readonly idForm: IdForm;
  /** The alphabet of texts with data_coding 0. */
  readonly defaultAlphabet: DefaultAlphabet;
  readonly receiptForm: ReceiptForm;
  readonly receiptDialect: ReceiptDialect;
  /** The only system_id that may bind. Empty: any may. */
  readonly systemId: string;
  /** The password for a bind. Empty: any password is accepted. */
  readonly password: string;
  /** Time zone of the dates in receipts, in minutes east of UTC. */
  readonly utcOffsetMinutes: number;
  /** The most deliver_sm without an answer on one session. */
  readonly deliverWindow: number;
  /** A deliver_sm that was not answered within this time is sent again. */
  readonly deliverTimeoutMs: number;
  /** Pause before a refused or unanswered deliver_sm is sent again. */
  readonly retryDelayMs: number;
  /** How often a deliver_sm is sent before it is given up. */
  readonly deliverTries: number;
  /** The most receipts that wait or have no answer yet. Above it, submits are refused with 0x14 (queue full). */
  readonly maxPending: number;
  /** How many accepted messages to remember for `messages()`, `texts()` and query_sm. */
  readonly keepMessages: number;
  /** The SMSC sends enquire_link on bound sessions in this interval. 0: never. */
  readonly enquireLinkMs: number;
  /** File to which every accepted message is appended, before its answer, as one line of JSON. Empty: no file. */
  readonly log: string;
  /** True: receipts wait until `release()`. */
  readonly holdReceipts: boolean;
  /** Decides what happens to a submit. Undefined leaves the decision to the magic numbers. */
  readonly behaviour: Behaviour | undefined;
  /** Called with each PDU that was read or is about to be written. The bytes are valid only during the call. */
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
