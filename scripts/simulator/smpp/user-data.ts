import { TAG } from './commands.ts';
import type { Tlvs } from './read-fields.ts';

/** esm_class bit that says: the message begins with a user data header (SMPP 3.4 §5.2.12). */
const UDH_INDICATOR = 0x40;

/** One part of a longer text. `kind` keeps an 8-bit reference apart from a 16-bit one of the same value. */
export interface Concatenation {
  readonly kind: 'udh8' | 'udh16' | 'sar';
  readonly reference: number;
  readonly total: number;
  /** 1 for the first part. */
  readonly part: number;
}

/**
 * The user data header with its length octet (3GPP TS 23.040 §9.2.3.24), empty when esm_class announces none,
 * `undefined` when one is announced but does not fit.
 */
export function headerOf(esmClass: number, userData: Buffer): Buffer | undefined {
  if ((esmClass & UDH_INDICATOR) === 0) return userData.subarray(0, 0);
  const end = 1 + (userData[0] ?? Number.POSITIVE_INFINITY);
  return end <= userData.length ? userData.subarray(0, end) : undefined;
}

/** Which part of which text this is, by the header's element 0x00 or 0x08, or by the three sar_ parameters. */
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

/** TS 23.040 §9.2.3.24.1: a total of 0, a part of 0 or one beyond the total means the element is ignored. */
function valid(kind: Concatenation['kind'], reference: number, totalAndPart: Buffer): Concatenation | undefined {
  const [total = 0, part = 0] = totalAndPart;
  return part >= 1 && part <= total ? { kind, reference, total, part } : undefined;
}
