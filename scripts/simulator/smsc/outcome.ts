import type { Submit } from '../smpp/submit.ts';

/** What the simulated carrier does with one submit_sm. */
export interface Outcome {
  /** command_status of the answer; anything but 0 means that the message is not taken and has no receipts. Default 0. */
  readonly status?: number;
  /**
   * `normal`: after the response delay. `after-receipt`: the first receipt goes out before the answer. `never`: the
   * message is taken and nobody is told. `cut`: the same, and the connection is broken at once. Default `normal`.
   */
  readonly answer?: 'normal' | 'after-receipt' | 'never' | 'cut';
  /** Delay of this answer, in milliseconds, instead of the configured one. */
  readonly responseDelayMs?: number;
  /** The receipts, each only if registered_delivery asks for its kind. Default: one that says DELIVRD. */
  readonly receipts?: readonly ReceiptPlan[];
}

/** One receipt to come. The last one that is final decides what query_sm answers. */
export interface ReceiptPlan {
  /** Appendix B's word: DELIVRD, UNDELIV, EXPIRED, REJECTD, DELETED, ACCEPTD, UNKNOWN, ENROUTE. */
  readonly stat: string;
  /** Text of `err:`, default `000`. */
  readonly err?: string;
  /** When, in multiples of the configured receipt delay and its jitter. Default 1. */
  readonly delays?: number;
  /** esm_class 0x20 (intermediate notification) instead of 0x04 (SMSC delivery receipt). */
  readonly intermediate?: boolean;
  /** The message id in the notation that the configuration does not use. */
  readonly otherNotation?: boolean;
  /** The whole receipt text, to play what a certain carrier sends; `id` is the id in the receipt's notation. */
  readonly body?: (id: string, submit: Submit) => string;
  /** `false`: this receipt carries no TLVs, whatever the configuration says. */
  readonly tlvs?: boolean;
}

/** A carrier's mind: what to do with this submit; `undefined` leaves it to the magic numbers. */
export type Behaviour = (submit: Submit) => Outcome | undefined;
