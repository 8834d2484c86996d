/**
 * The GSM 7-bit default alphabet and its extension table (3GPP TS 23.038 §6.2.1, §6.2.1.1), one octet per septet as
 * SMPP carries it. An extension character is ESC (0x1B) and one more octet.
 */

/** Position in the string = code. The space at 0x1B stands for ESC, which is not a character. */
export const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ ÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

export const EXTENSION: Readonly<Record<string, number>> = {
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

export const ESC = 0x1b;
const NOT_GSM = 0xff;
/** Marks an extension character in the table; the low seven bits are its second octet. */
export const EXTENDED = 0x80;

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

/** The code of a UTF-16 code unit, with `EXTENDED` for an extension character, or `NOT_GSM`. */
export function gsmCode(codeUnit: number): number {
  return CODES[codeUnit] ?? NOT_GSM;
}
