/** What spreadsheets and the operators' portals write. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

export type DecodedFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly detail: string };

/** Number of bytes that are examined to detect the format. */
const LOOKED_AT = 4_096;

/**
 * Decodes a file. The byte order mark tells UTF-8 from UTF-16; without one, the position of zero bytes does. Windows-1252 is
 * never guessed: any file can be read as it, and one wrong character makes a template that nothing matches, or a name that is none.
 */
export function decodeFile(octets: Uint8Array, given?: Encoding): DecodedFile {
  const other = otherFormat(octets);
  if (other !== undefined) {
    return { kind: 'unreadable', detail: `It is ${other}, not text: open it and save it as "CSV UTF-8".` };
  }
  const encoding = given ?? encodingOf(octets);
  if (encoding === 'windows-1252') return { kind: 'text', text: fromWindows1252(octets) };
  try {
    // TextDecoder removes the byte order mark.
    return { kind: 'text', text: new TextDecoder(encoding, { fatal: true }).decode(octets) };
  } catch {
    if (encoding !== 'utf-8') return { kind: 'unreadable', detail: `It is not the ${encoding} that it seems to be.` };
    const line = lineOfFault(octets);
    const detail =
      `Line ${line} is not UTF-8; spreadsheets on Windows save "CSV" as windows-1252. ` +
      'Save it as "CSV UTF-8", or give the encoding windows-1252 and check the letters.';
    return { kind: 'unreadable', detail };
  }
}

function encodingOf(octets: Uint8Array): Encoding {
  const [first, second] = octets;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  // In UTF-16, one of the two octets of commas, digits and Latin letters is 0. In UTF-8 none is.
  let [even, odd] = [0, 0];
  for (const [i, octet] of octets.subarray(0, LOOKED_AT).entries()) {
    if (octet === 0 && i % 2 === 0) even += 1;
    if (octet === 0 && i % 2 === 1) odd += 1;
  }
  // A single one is no sign of UTF-16.
  if ((even + odd) * 8 <= Math.min(octets.length, LOOKED_AT)) return 'utf-8';
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Portals name files `.csv` or `.xls` that are neither. */
function otherFormat(octets: Uint8Array): string | undefined {
  const start = latin1(octets.subarray(0, 256));
  if (start.startsWith('PK\x03\x04')) return 'an Excel workbook (.xlsx)';
  if (start.startsWith('\xd0\xcf\x11\xe0')) return 'an Excel workbook (.xls)';
  if (start.startsWith('%PDF')) return 'a PDF';
  return /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|table|\?xml)/i.test(start) ? 'a web page or XML' : undefined;
}

function lineOfFault(octets: Uint8Array): number {
  let line = 1;
  let start = 0;
  for (let end = octets.indexOf(LF); end !== -1; end = octets.indexOf(LF, start)) {
    if (!isUtf8(octets.subarray(start, end))) break;
    start = end + 1;
    line += 1;
  }
  return line;
}

function isUtf8(octets: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(octets);
    return true;
  } catch {
    return false;
  }
}

const LF = 10;

/**
 * Decoded by hand: TextDecoder of Node 20 to 23 treats it as Latin-1, and turns dashes and curly quotes into control characters.
 */
function fromWindows1252(octets: Uint8Array): string {
  return latin1(octets).replace(/[\x80-\x9f]/g, (one) => WINDOWS_1252[one.charCodeAt(0) - 0x80] ?? one);
}

/** In pieces, because a call takes only so many arguments. */
function latin1(octets: Uint8Array): string {
  let text = '';
  for (let at = 0; at < octets.length; at += LOOKED_AT) {
    text += String.fromCharCode(...octets.subarray(at, at + LOOKED_AT));
  }
  return text;
}

/** The characters 0x80 to 0x9F; five of them are undefined (encoding.spec.whatwg.org, index-windows-1252). */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
