/**
 * Decodes a message's octets to the text on a phone (3GPP TS 23.038 §6.2.1, UCS-2). Written without the product's code,
 * so that each checks the other.
 */

/** The default alphabet by septet. 0x1b is the escape to {@link EXTENSION}. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

const EXTENSION = new Map<number, string>([
  [0x0a, '\f'],
  [0x14, '^'],
  [0x28, '{'],
  [0x29, '}'],
  [0x2f, '\\'],
  [0x3c, '['],
  [0x3d, '~'],
  [0x3e, ']'],
  [0x40, '|'],
  [0x65, '€'],
]);

const ESCAPE = 0x1b;
const UNREADABLE = '\ufffd';

const SEPTETS = new Map<string, readonly number[]>([
  ...[...BASIC].map((character, septet) => [character, [septet]] as const),
  ...[...EXTENSION].map(([septet, character]) => [character, [ESCAPE, septet]] as const),
]);

export type Alphabet = 'gsm7' | 'ascii' | 'latin1' | 'ucs2' | 'binary';

/** Alphabets that carriers use for data_coding 0, which SMPP 3.4 §5.2.19 leaves to the SMSC. */
export const DEFAULT_ALPHABETS = ['gsm7', 'gsm7-packed', 'latin1', 'ascii'] as const;
export type DefaultAlphabet = (typeof DEFAULT_ALPHABETS)[number];

/**
 * The text of a segment with data_coding 0. Carriers convert Latin-1 and ASCII to GSM, which loses characters that GSM
 * lacks. Packed septets begin after the header, at the next multiple of seven bits (TS 23.040 §9.2.3.24).
 */
export function decodeDefault(octets: Buffer, alphabet: DefaultAlphabet, headerOctets: number): string {
  if (alphabet === 'gsm7') return decodeGsm7(octets);
  if (alphabet === 'gsm7-packed') return decodeGsm7(unpack(octets, headerOctets));
  const text = alphabet === 'latin1' ? octets.toString('latin1') : decodeText(octets, 0x01);
  return Array.from(text, (character) => (SEPTETS.has(character) ? character : UNREADABLE)).join('');
}

/** Septets that the segment takes in a radio message, without its header. */
export function septetsOfDefault(octets: Buffer, alphabet: DefaultAlphabet, headerOctets: number): number {
  if (alphabet === 'gsm7') return octets.length;
  if (alphabet === 'gsm7-packed') return unpack(octets, headerOctets).length;
  return encodeGsm7(octets.toString('latin1')).length;
}

/** Unpacks septets. A carriage return in the last seven bits of the last octet is padding (TS 23.038 §6.1.2.3.1). */
function unpack(octets: Buffer, headerOctets: number): Buffer {
  const fill = (7 - ((headerOctets * 8) % 7)) % 7;
  const bits = [...octets].flatMap((octet) => Array.from({ length: 8 }, (_, bit) => (octet >> bit) & 1)).slice(fill);
  const septets = Array.from({ length: Math.floor(bits.length / 7) }, (_, i) =>
    bits.slice(7 * i, 7 * i + 7).reduce((septet, bit, place) => septet | (bit << place), 0),
  );
  if (bits.length % 7 === 0 && septets.at(-1) === 0x0d) septets.pop();
  return Buffer.from(septets);
}

/** Below 0x10 data_coding is defined by SMPP 3.4 §5.2.19, above by the groups of TS 23.038 §4. */
export function alphabetOf(dataCoding: number): Alphabet {
  switch (dataCoding) {
    case 0x00:
      return 'gsm7';
    case 0x01:
      return 'ascii';
    case 0x03:
      return 'latin1';
    case 0x08:
      return 'ucs2';
  }
  if (dataCoding >= 0xf0) return (dataCoding & 0x04) === 0 ? 'gsm7' : 'binary';
  if (dataCoding >= 0x10 && dataCoding < 0x40) {
    const bits = (dataCoding >> 2) & 0x03;
    if (bits === 0) return 'gsm7';
    if (bits === 2) return 'ucs2';
  }
  return 'binary';
}

/**
 * The text of a segment. `octets` is the user data without its header, GSM text unpacked to one septet per octet.
 * `U+FFFD` stands for what no phone could show: an octet above 127, an escape at the end, half a surrogate pair. Binary
 * content becomes hex.
 */
export function decodeText(octets: Buffer, dataCoding: number): string {
  switch (alphabetOf(dataCoding)) {
    case 'gsm7':
      return decodeGsm7(octets);
    case 'ascii':
      return octets.toString('latin1').replaceAll(/[\x80-\xff]/g, UNREADABLE);
    case 'latin1':
      return octets.toString('latin1');
    case 'ucs2':
      return decodeUcs2(octets);
    case 'binary':
      return octets.toString('hex');
  }
}

/** To unpacked GSM; characters that GSM lacks become question marks. */
export function encodeGsm7(text: string): Buffer {
  return Buffer.from([...text].flatMap((character) => SEPTETS.get(character) ?? [0x3f]));
}

export function fitsGsm7(text: string): boolean {
  return [...text].every((character) => SEPTETS.has(character));
}

/** UTF-16 big-endian, for data_coding 8. */
export function encodeUcs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

function decodeGsm7(octets: Buffer): string {
  let text = '';
  for (let at = 0; at < octets.length; at++) {
    const septet = octets[at] ?? 0;
    if (septet !== ESCAPE) {
      text += BASIC[septet] ?? UNREADABLE;
      continue;
    }
    at += 1;
    // TS 23.038 §6.2.1.1: an unknown extension is shown as the basic character with the same code.
    const extended = octets[at];
    text += extended === undefined ? UNREADABLE : (EXTENSION.get(extended) ?? BASIC[extended] ?? UNREADABLE);
  }
  return text;
}

function decodeUcs2(octets: Buffer): string {
  const even = Buffer.from(octets.subarray(0, octets.length & ~1));
  const text = even.swap16().toString('utf16le');
  return (text + (octets.length % 2 === 0 ? '' : UNREADABLE)).replaceAll(/\p{Surrogate}/gu, UNREADABLE);
}
