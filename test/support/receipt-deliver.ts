import type { Deliver } from '../../shared/carriers/smpp/deliver-sm.ts';

/** A receipt's deliver_sm with this text, in octets that keep every character. `more` overrides. */
export function receiptDeliver(text: string, more: Partial<Deliver> = {}): Deliver {
  const body = Buffer.from(`\ufeff${text}`, 'utf16le');
  return { from: '', to: '', esmClass: RECEIPT, dataCoding: 0, body, ...more };
}

/** Values of esm_class (SMPP 3.4 §5.2.12). */
const RECEIPT = 0x04;
export const INTERMEDIATE = 0x20;
