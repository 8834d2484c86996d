import { BASIC, ESC, EXTENDED, EXTENSION, gsmCode, NOT_GSM } from '../../../shared/sms/gsm7.ts';

/** The code units of extension characters, by their octet after ESC. */
const EXTENDED_UNITS = new Map(Object.entries(EXTENSION).map(([character, code]) => [code, character]));
/** Stands for octets that are not septets. */
const UNREADABLE = '\ufffd';

/**
 * Decodes septets, one in each octet. An unknown extension is read as the basic character with its code (3GPP TS 23.038
 * §6.2.1.1).
 */
export function readSeptets(octets: Buffer): string {
  let text = '';
  for (let i = 0; i < octets.length; i++) {
    const escaped = octets[i] === ESC && i + 1 < octets.length;
    if (escaped) i += 1;
    const code = octets[i] ?? NOT_GSM;
    const extended = escaped ? EXTENDED_UNITS.get(code) : undefined;
    text += extended ?? (code < EXTENDED ? BASIC.charAt(code) : UNREADABLE);
  }
  return text;
}

/** Writes a code unit of the alphabet at `offset`. Returns the offset after it. The caller must check `septetsOf` first. */
export function writeSeptets(codeUnit: number, into: Buffer, offset: number): number {
  const code = gsmCode(codeUnit);
  if (code < EXTENDED) {
    into[offset] = code;
    return offset + 1;
  }
  into[offset] = ESC;
  into[offset + 1] = code & 0x7f;
  return offset + 2;
}
