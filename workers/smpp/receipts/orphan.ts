import type { PartReceipt, ReceiptTlvs } from '../../../shared/settlement/receipt-outcome.ts';

/**
 * A receipt that fitted no message when it came: its answer to submit_sm is still under way, or it belongs to a submit that was
 * never answered, or to nobody. Kept for `ORPHAN_MS` and tried again.
 */
export interface OrphanDocument {
  /** Derived from carrier, ids and what it says: the same receipt again is the same document. */
  readonly _id: string;
  readonly carrier: string;
  /** Every key its ids may mean (workers/smpp/receipts/message-key.ts). */
  readonly keys: readonly string[];
  /** How each of them was read; absent in older ones. */
  readonly forms?: readonly string[];
  /** The receipt's addresses as the carrier wrote them. */
  readonly from: string;
  readonly to: string;
  readonly part: PartReceipt;
  /** The receipt's text up to the customer's words. */
  readonly excerpt: string;
  readonly tlvs?: ReceiptTlvs;
  readonly at: Date;
  readonly expiresAt: Date;
}

export const ORPHAN_MS = 72 * 3_600_000;
