import { isBlank, looksLikePhone } from './cell.ts';

/** The first rows of a file may be a title, a date, an empty line. */
export const TITLE_ROWS_MAX = 9;

export interface Row {
  /** Where it begins, from 1 as in an editor; every line of the file counts. */
  readonly line: number;
  /** As they are written, with outer spaces. */
  readonly cells: readonly string[];
  /** Text follows behind the quotation mark that ends a cell. */
  readonly torn?: true;
}

export interface Sheet {
  readonly rows: readonly Row[];
  /**
   * Why the rows are not what the file means: a quotation mark took following lines for its own (it has no end, or ends amid another
   * cell), or reading stopped at a limit.
   */
  readonly fault?: string;
}

export interface SheetLimits {
  readonly rows: number;
  readonly columns: number;
  /** Characters of one cell. */
  readonly cell: number;
}

/** Signs between cells: spreadsheets of many countries write semicolons, portals also tabs and bars. What is copied from one has tabs. */
const SEPARATORS = [',', ';', '\t', '|'] as const;
const LINE_END = /\r\n|\r|\n/;
/** Excel's own first line, which names the separator. */
const SEPARATOR_LINE = /^\ufeff?"?sep=(.)"?[ \t,;|]*(?:\r\n|\r|\n|$)/i;
/** As much of a text as is looked at to find its separator. */
const LOOKED_AT = 65_536;

/**
 * Reads a table as spreadsheets write it and people paste it (RFC 4180, and what is usual besides): any separator, line ends of
 * any kind, rows without anything in them left out. Stops at the limits, so that a text costs no more than what it may hold.
 * `likeness` tells how much the cells of a row look like what the file should have. The separator is the one of the row that looks
 * most like it, among equals the one that most of the first lines have equally often: sums have commas, too.
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

/** Goes through the text once. */
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

  /** Says which limit it reached, if any. */
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
    // So long a cell of several lines has taken them by a quotation mark that is none.
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

/** `name`, `param 1`. A number with a slip in it is none: it would be left out without a word. */
export function looksLikeHead(cells: readonly string[]): boolean {
  return cells.every((cell) => isBlank(cell) || (/\p{L}/u.test(cell) && (cell.match(/\p{Nd}/gu) ?? []).length <= 2));
}
