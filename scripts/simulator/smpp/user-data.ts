import { TAG } from './commands.ts';
import type { Tlvs } from './read-fields.ts';

/** The bit of esm_class that announces a user data header at the beginning of the message (SMPP 3.4 §5.2.12). */
const UDH_INDICATOR = 0x40;

/** Says which part of a longer text a segment is. `kind` separates references of 8 and 16 bits, which may have the same value. */
export interface Concatenation {
  readonly kind: 'udh8' | 'udh16' | 'sar';
  readonly reference: number;
  readonly total: number;
  /** 1 for the first part. */
  readonly part: number;
}

/**
 * The user data header with its length octet (3GPP TS 23.040 §9.2.3.24). Empty if esm_class announces none. Undefined if one is
 * announced but does not fit.
 */
export function headerOf(esmClass: number, userData: Buffer): Buffer | undefined {
  if ((esmClass & UDH_INDICATOR) === 0) return userData.subarray(0, 0);
  const end = 1 + (userData[0] ?? Number.POSITIVE_INFINITY);
  return end <= userData.length ? userData.subarray(0, end) : undefined;
}

/**
 * Finds out which part of which text a segment is. Looks for element 0x00 or 0x08 of the header, then for the three sar_
 * parameters.
 */
export function concatenationOf(header: Buffer, tlvs: Tlvs): Concatenation | undefined {
  for (let at = 1; at + 1 < header.length; ) {
    const element = header[at];
    const octets = header[at + 1] ?? 0;
    const data = header.subarray(at + 2, at + 2 + octets);
    if (element === 0x00 && data.length === 3) return valid('udh8', data.readUInt8(0), data.subarray(1));
    if (element === 0x08 && data.length === 4) return valid('udh16', data.readUInt16BE(0), data.subarray(2));
    at += 2 + octets;
  }

  const reference = tlvs.get(TAG.sarReference);
  const total = tlvs.get(TAG.sarTotal);
  const part = tlvs.get(TAG.sarSequence);
  if (reference?.length !== 2 || total?.length !== 1 || part?.length !== 1) return undefined;
  return valid('sar', reference.readUInt16BE(), Buffer.concat([total, part]));
}

/** TS 23.040 §9.2.3.24.1: an element is ignored if its total is 0, or if its part is 0 or above the total. */
function valid(kind: Concatenation['kind'], reference: number, totalAndPart: Buffer): Concatenation | undefined {
  const [total = 0, part = 0] = totalAndPart;
  return part >= 1 && part <= total ? { kind, reference, total, part } : undefined;
}
