import type { Submit } from '../smpp/submit.ts';
import type { DeliverSm } from './deliver-sm.ts';

/** What the simulated carrier does with one submit_sm. */
export interface Outcome {
  /** The command_status of the answer. With any other value than 0 the message is refused and has no receipts. Default 0. */
  readonly status?: number;
  /**
   * When the answer comes. `normal`: after the response delay. `after-receipt`: after the first receipt. `never`: the message is
   * accepted without an answer. `cut`: the message is accepted, and the connection breaks at once instead of an answer. Default
   * `normal`.
   */
  readonly answer?: 'normal' | 'after-receipt' | 'never' | 'cut';
  /** Delay of this answer in milliseconds. It replaces the configured one. */
  readonly responseDelayMs?: number;
  /** The answer comes when this is fulfilled, and after no other delay. */
  readonly answerWhen?: Promise<unknown>;
  /** The receipts. Each is sent only if registered_delivery asks for its kind. Default: one receipt with DELIVRD. */
  readonly receipts?: readonly ReceiptPlan[];
}

/** A receipt that will be sent. The last final one decides what query_sm answers. */
export interface ReceiptPlan {
  /** A word of Appendix B: DELIVRD, UNDELIV, EXPIRED, REJECTD, DELETED, ACCEPTD, UNKNOWN, ENROUTE. */
  readonly stat: string;
  /** The text of `err:`. Default `000`. */
  readonly err?: string;
  /** When the receipt is sent, as a multiple of the configured delay and its jitter. Default 1. */
  readonly delays?: number;
  /** True: esm_class 0x20 (intermediate notification). Otherwise 0x04 (SMSC delivery receipt). */
  readonly intermediate?: boolean;
  /** True: the receipt has the message id in the notation that the configuration does not use. */
  readonly otherNotation?: boolean;
  /** Writes the whole text of the receipt as a certain carrier would. `id` is in the receipt's notation. */
  readonly body?: (id: string, submit: Submit) => string;
  /** False: this receipt has no TLVs, whatever the configuration says. */
  readonly tlvs?: boolean;
  /** Changes the finished receipt, as a faulty carrier would: octets before its text, another state in the TLV. */
  readonly spoil?: (receipt: DeliverSm) => Partial<DeliverSm>;
}

/** Decides what happens to a submit. Undefined leaves the decision to the magic numbers. */
export type Behaviour = (submit: Submit) => Outcome | undefined;
