/** GSM7: the GSM 03.38 default alphabet and its extension table, one octet each; UCS2: UTF-16BE. 3GPP TS 23.038. */
export type Encoding = 'GSM7' | 'UCS2';

/**
 * Units (septets, or UTF-16 code units) of one short message: alone, and as one of several, where a header takes 6 of
 * its 140 octets with an 8-bit reference, or 7 with a 16-bit one (3GPP TS 23.040 §9.2.3.24.1, §9.2.3.24.8).
 */
const CAPACITY = {
  GSM7: { alone: 160, joined: { 6: 153, 7: 152 } },
  UCS2: { alone: 70, joined: { 6: 67, 7: 66 } },
} as const satisfies Record<Encoding, { alone: number; joined: Record<6 | 7, number> }>;

/** How a carrier wants texts. The gateway counts with `USUAL`. */
export interface TextForm {
  /** Octets of each segment's header. `none`: a text of any length is one segment (message_payload). */
  readonly header: 6 | 7 | 'none';
  /** For texts that are not UCS-2. Carriers convert them to GSM, so they must fit it, and are counted in septets. */
  readonly alphabet: 'gsm' | 'latin1' | 'ascii';
}

export const USUAL: TextForm = { header: 6, alphabet: 'gsm' };
const HIGHEST = { gsm: 0xffff, latin1: 0xff, ascii: 0x7f } as const satisfies Record<TextForm['alphabet'], number>;

export interface TextPlan {
  readonly encoding: Encoding;
  /** Septets (two for an extension character), or UTF-16 code units. */
  readonly units: number;
  readonly segments: number;
}

/**
 * What the gateway needs to know of a text, without encoding it. An empty text is one segment. Segments are filled
 * greedily with whole characters: ESC + character and surrogate pairs are never split, so a segment's end may stay
 * unused. A leading byte order mark counts nothing.
 */
export function planText(text: string): TextPlan {
  const { encoding, units, ends } = planSegments(withoutMark(text), USUAL);
  return { encoding, units, segments: ends.length };
}

export function roomOf({ encoding, segments }: Pick<TextPlan, 'encoding' | 'segments'>): number {
  const { alone, joined } = CAPACITY[encoding];
  return segments > 1 ? segments * joined[6] : alone;
}

/** A leading U+FEFF only says how the text was encoded as a file. */
export function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** `ends`: the index after each segment's last code unit. */
export function planSegments(
  text: string,
  { header, alphabet }: TextForm,
): { readonly encoding: Encoding; readonly units: number; readonly ends: readonly number[] } {
  const septets = countSeptets(text, HIGHEST[alphabet]);
  const encoding = septets === undefined ? 'UCS2' : 'GSM7';
  const units = septets ?? text.length;
  if (header === 'none' || units <= CAPACITY[encoding].alone) return { encoding, units, ends: [text.length] };
  const ends: number[] = [];
  for (let start = 0; start < text.length; ) {
    start = endOfSegment(text, encoding, start, CAPACITY[encoding].joined[header]);
    ends.push(start);
  }
  return { encoding, units, ends };
}

/** Undefined when a character is not in the GSM alphabet, or above the highest of the carrier's alphabet. */
function countSeptets(text: string, highest: number): number | undefined {
  let total = 0;
  for (let i = 0; i < text.length; i++) {
    const codeUnit = text.charCodeAt(i);
    const septets = septetsOf(codeUnit);
    if (septets === 0 || codeUnit > highest) return undefined;
    total += septets;
  }
  return total;
}

function endOfSegment(text: string, encoding: Encoding, start: number, capacity: number): number {
  if (encoding === 'UCS2') {
    const end = start + capacity;
    if (end >= text.length) return text.length;
    return isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end;
  }
  let used = 0;
  let end = start;
  for (; end < text.length; end++) {
    used += septetsOf(text.charCodeAt(end));
    if (used > capacity) break;
  }
  return end;
}

function isHighSurrogate(codeUnit: number): boolean {
  return (codeUnit & 0xfc00) === 0xd800;
}

function isLowSurrogate(codeUnit: number): boolean {
  return (codeUnit & 0xfc00) === 0xdc00;
}

/** The characters that make a text UCS-2, each once, in their order. */
export function unicodeCharacters(text: string): readonly string[] {
  const found = new Set<string>();
  for (const character of withoutMark(text)) {
    if (character.length > 1 || septetsOf(character.charCodeAt(0)) === 0) found.add(character);
  }
  return [...found];
}

/**
 * Characters that nobody sees, or that look like another: control and zero-width characters, unusual spaces, accents
 * written apart from their letter, variation selectors. For showing a text. Marks of other scripts are seen.
 */
export const UNSEEN = /\p{Cc}|\p{Cf}|[^\P{Z} ]|[\u0300-\u036f\ufe00-\ufe0f]/gu;

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
/** Marks an extension character; the low seven bits are its second octet. */
export const EXTENDED = 0x80;

/** By UTF-16 code unit, up to € (U+20AC). A table saves a map look-up per character. */
const CODES = new Uint8Array(0x20ad).fill(NOT_GSM);
for (let code = 0; code < BASIC.length; code++) {
  if (code !== ESC) CODES[BASIC.charCodeAt(code)] = code;
}
for (const [character, code] of Object.entries(EXTENSION)) CODES[character.charCodeAt(0)] = EXTENDED | code;

/** 1, 2 (extension), or 0 when it is not in the alphabet. */
function septetsOf(codeUnit: number): 0 | 1 | 2 {
  const code = CODES[codeUnit] ?? NOT_GSM;
  if (code === NOT_GSM) return 0;
  return code < EXTENDED ? 1 : 2;
}

/** With `EXTENDED` for an extension character, or `NOT_GSM`. */
export function gsmCode(codeUnit: number): number {
  return CODES[codeUnit] ?? NOT_GSM;
}
