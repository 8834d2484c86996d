import type { ReceiptSettings } from '../../shared/carriers/settings/receipts.ts';
import { ReceiptDialect } from '../../workers/smpp/dialect/receipt-dialect.ts';

/** How the receipts of a carrier with these settings are read; none: the generic profile. */
export function dialect(receipts: Partial<ReceiptSettings> = {}): ReceiptDialect {
  return new ReceiptDialect({ receipts });
}
