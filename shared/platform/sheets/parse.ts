import { isBlank, looksLikePhone } from './cell.ts';

/** The first rows of a file may be a title, a date, an empty line. */
export const TITLE_ROWS_MAX = 9;

export interface Row {
  /** From 1 as in an editor; every line of the file counts. */
  readonly line: number;
  /** As written, with outer spaces. */
  readonly cells: readonly string[];
  /** Text follows the quotation mark that ends a cell. */
  readonly torn?: true;
}

export interface Sheet {
  readonly rows: readonly Row[];
  /** Why the rows are wrong: a quotation mark took following lines for its own, or a limit was reached. */
  readonly fault?: string;
}

interface SheetLimits {
  readonly rows: number;
  readonly columns: number;
  readonly cell: number;
}

/** Spreadsheets of many countries write semicolons, portals also tabs and bars; copied cells have tabs. */
const SEPARATORS = [',', ';', '\t', '|'] as const;
const LINE_END = /\r\n|\r|\n/;
/** Excel's own first line, which names the separator. */
const SEPARATOR_LINE = /^\ufeff?"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|$)/i;
const LOOKED_AT = 65_536;

/**
 * Reads a table as spreadsheets write it and people paste it (RFC 4180 and usual deviations): any separator, line ends
 * of any kind, empty rows left out. Stops at the limits, so that a text costs no more than what it may hold. `likeness`
 * tells how much a row's cells look like what the file should have. The separator is that of the row that looks most
 * like it; among equals, the one that most of the first lines have equally often, because sums have commas, too.
 */
export function parseSheet(
  text: string,
  limits: SheetLimits,
  likeness: (cells: readonly string[]) => number = hasPhone,
): Sheet {
  const named = SEPARATOR_LINE.exec(text);
  const start = named?.[0].length ?? (text.startsWith('\ufeff') ? 1 : 0);
  const separator = named?.[1] ?? separatorOf(text.slice(start, start + LOOKED_AT), limits.columns, likeness);
  return new Scanner(text, separator, limits).read(start, named === null ? 1 : 2);
}

function hasPhone(cells: readonly string[]): number {
  return cells.some(looksLikePhone) ? 1 : 0;
}

function separatorOf(text: string, columns: number, likeness: (cells: readonly string[]) => number): string {
  const lines = text
    .split(LINE_END, TITLE_ROWS_MAX + 1)
    .map((line) => line.replaceAll(/"[^"]*"/g, 'x'))
    .filter((line) => line.trim() !== '');
  const scores = SEPARATORS.map((sign) => {
    const counts = lines.map((line) => line.split(sign).length - 1);
    const steady = counts.filter((count) => count > 0 && count === counts[0]).length;
    // Nobody types a tab: of two that are as steady it is the separator.
    const most = steady > 0 && sign === '\t' ? steady + 0.5 : steady;
    return { sign, score: [Math.max(0, ...lines.map((line) => likeness(line.split(sign, columns)))), most] as const };
  });
  const [alike, steady] = [0, 1] as const;
  return scores.reduce((best, one) =>
    one.score[alike] > best.score[alike] ||
    (one.score[alike] === best.score[alike] && one.score[steady] > best.score[steady])
      ? one
      : best,
  ).sign;
}

class Scanner {
  readonly #text: string;
  readonly #separator: string;
  readonly #limits: SheetLimits;
  readonly #rows: Row[] = [];
  #at = 0;
  #line = 1;
  #torn = false;
  #openQuote: number | undefined;

  constructor(text: string, separator: string, limits: SheetLimits) {
    this.#text = text;
    this.#separator = separator;
    this.#limits = limits;
  }

  read(start: number, line: number): Sheet {
    this.#at = start;
    this.#line = line;
    let tooMuch: string | undefined;
    while (this.#at < this.#text.length && tooMuch === undefined) tooMuch = this.#readRow();
    const fault = this.#openQuote === undefined ? tooMuch : openQuoteDetail(this.#openQuote);
    return { rows: this.#rows, ...(fault === undefined ? {} : { fault }) };
  }

  /** Returns which limit it reached, if any. */
  #readRow(): string | undefined {
    const line = this.#line;
    const cells: string[] = [];
    this.#torn = false;
    for (;;) {
      const cell = this.#readCell();
      if (cell.length > this.#limits.cell)
        return `Line ${line} has a cell of more than ${this.#limits.cell} characters.`;
      cells.push(cell);
      if (this.#text[this.#at] !== this.#separator) break;
      if (cells.length === this.#limits.columns) return `Line ${line} has more than ${this.#limits.columns} columns.`;
      this.#at++;
    }
    if (this.#text.startsWith('\r\n', this.#at)) this.#at++;
    this.#at++;
    this.#line++;
    if (cells.every(isBlank)) return undefined;
    if (this.#rows.length === this.#limits.rows) return `There are more than ${this.#limits.rows} rows.`;
    this.#rows.push({ line, cells, ...(this.#torn ? { torn: true } : {}) });
    return undefined;
  }

  /** Ends at the separator, at the line's end or at the text's end. */
  #readCell(): string {
    const start = this.#at;
    while (this.#text[this.#at] === ' ') this.#at++;
    if (this.#text[this.#at] === '"') return this.#readQuoted();
    this.#toEnd();
    return this.#text.slice(start, this.#at);
  }

  #readQuoted(): string {
    const openedAt = this.#line;
    let value = '';
    for (;;) {
      const end = this.#text.indexOf('"', this.#at + 1);
      const isOpen = end === -1;
      const piece = this.#text.slice(this.#at + 1, isOpen ? this.#text.length : end);
      this.#line += piece.split(LINE_END).length - 1;
      value += piece;
      this.#at = isOpen ? this.#text.length : end + 1;
      if (isOpen) {
        this.#openQuote ??= openedAt;
        return value;
      }
      if (this.#text[this.#at] !== '"') break;
      value += '"';
      if (value.length > this.#limits.cell) break;
    }
    // So long a cell of several lines has taken them by a stray quotation mark.
    if (value.length > this.#limits.cell && LINE_END.test(value)) this.#openQuote ??= openedAt;
    const rest = this.#at;
    this.#toEnd();
    const behind = this.#text.slice(rest, this.#at);
    if (behind.trim() === '') return value;
    this.#torn = true;
    if (LINE_END.test(value)) this.#openQuote ??= openedAt;
    return value + behind;
  }

  #toEnd(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text[this.#at];
      if (sign === this.#separator || sign === '\n' || sign === '\r') return;
    }
  }
}

function openQuoteDetail(line: number): string {
  return `The quotation mark in line ${line} hides lines after it. Remove it, or put one at the end of its cell too.`;
}

/** `name`, `param 1`. A row with a mistyped number is no head: it would be left out silently. */
export function looksLikeHead(cells: readonly string[]): boolean {
  return cells.every((cell) => isBlank(cell) || (/\p{L}/u.test(cell) && (cell.match(/\p{Nd}/gu) ?? []).length <= 2));
}

export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

type DecodedFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly detail: string };

const SAMPLE_BYTES = 4_096;

/**
 * The byte order mark tells UTF-8 from UTF-16; without one, the position of zero bytes does. Windows-1252 is never
 * guessed: any file can be read as it, and one wrong character makes a template that nothing matches.
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
  for (const [i, octet] of octets.subarray(0, SAMPLE_BYTES).entries()) {
    if (octet === 0 && i % 2 === 0) even += 1;
    if (octet === 0 && i % 2 === 1) odd += 1;
  }
  // A single one is no sign of UTF-16.
  if ((even + odd) * 8 <= Math.min(octets.length, SAMPLE_BYTES)) return 'utf-8';
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

/** TextDecoder of Node 20 to 23 treats it as Latin-1: dashes and curly quotes become control characters. */
function fromWindows1252(octets: Uint8Array): string {
  return latin1(octets).replace(/[\x80-\x9f]/g, (one) => WINDOWS_1252[one.charCodeAt(0) - 0x80] ?? one);
}

/** In pieces, because a call takes only so many arguments. */
function latin1(octets: Uint8Array): string {
  let text = '';
  for (let at = 0; at < octets.length; at += SAMPLE_BYTES) {
    text += String.fromCharCode(...octets.subarray(at, at + SAMPLE_BYTES));
  }
  return text;
}

/** The characters 0x80 to 0x9F; five of them are undefined (encoding.spec.whatwg.org, index-windows-1252). */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
