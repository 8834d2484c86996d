import type { ReceiptTlvs } from '../document/message.ts';
import type { PartReceipt } from './message-log.ts';

/**
 * A receipt that fits no message yet. Either the answer with its id has not come, or its submit was never answered, or it is not
 * ours. It is kept for three days and tried again (workers/smpp/receipts).
 */
export interface OrphanDocument {
  /** Derived from the carrier, the ids and the content, so the same receipt is stored only once. */
  readonly _id: string;
  readonly carrier: string;
  /** Every key that its ids may mean (workers/smpp/dialect/message-ids.ts). */
  readonly keys: readonly string[];
  /** The form of each key. Absent in older documents. */
  readonly forms?: readonly string[];
  /** The receipt's addresses as the carrier wrote them. */
  readonly from: string;
  readonly to: string;
  readonly part: PartReceipt;
  /** The receipt's text, without the customer's words. */
  readonly excerpt: string;
  readonly tlvs?: ReceiptTlvs;
  /** As in IncomingReceipt (workers/smpp/receipts/receipt-match.ts). */
  readonly plain?: true;
  readonly at: Date;
  readonly expiresAt: Date;
}
