/**
 * The GSM 7-bit default alphabet and its extension table (3GPP TS 23.038 §6.2.1, §6.2.1.1), one octet per septet as
 * SMPP carries it. An extension character is ESC (0x1B) and one more octet.
 */

/** Position in the string = code. The space at 0x1B stands for ESC, which is not a character. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ ÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

const EXTENSION: Readonly<Record<string, number>> = {
  '\f': 0x0a,
  '^': 0x14,
  '{': 0x28,
  '}': 0x29,
  '\\': 0x2f,
  '[': 0x3c,
  '~': 0x3d,
  ']': 0x3e,
  '|': 0x40,
  '€': 0x65,
};

const ESC = 0x1b;
const NOT_GSM = 0xff;
/** Marks an extension character in the table; the low seven bits are its second octet. */
const EXTENDED = 0x80;

/**
 * The code of each UTF-16 code unit, up to the highest character of the alphabet (€, U+20AC). The 8 KiB save a map look-up for
 * each character.
 */
const CODES = new Uint8Array(0x20ad).fill(NOT_GSM);
for (let code = 0; code < BASIC.length; code++) {
  if (code !== ESC) CODES[BASIC.charCodeAt(code)] = code;
}
for (const [character, code] of Object.entries(EXTENSION)) CODES[character.charCodeAt(0)] = EXTENDED | code;

/** Septets of a UTF-16 code unit: 1, 2 (extension), or 0 when it is not in the alphabet. */
export function septetsOf(codeUnit: number): 0 | 1 | 2 {
  const code = CODES[codeUnit] ?? NOT_GSM;
  if (code === NOT_GSM) return 0;
  return code < EXTENDED ? 1 : 2;
}

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
  const code = CODES[codeUnit] ?? NOT_GSM;
  if (code < EXTENDED) {
    into[offset] = code;
    return offset + 1;
  }
  into[offset] = ESC;
  into[offset + 1] = code & 0x7f;
  return offset + 2;
}
