import type { ReceiptSettings } from '../../shared/carriers/settings/receipts.ts';
import { ReceiptDialect } from '../../workers/smpp/dialect/receipt-dialect.ts';

/** Reads receipts of a carrier with these settings; by default the generic profile. */
export function dialect(receipts: Partial<ReceiptSettings> = {}): ReceiptDialect {
  return new ReceiptDialect({ receipts });
}
