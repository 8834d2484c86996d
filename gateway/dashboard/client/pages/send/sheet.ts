import { parseCsv } from './csv.ts';

/** Recipients as they were pasted, or read from a file. */
export interface Sheet {
  readonly rows: readonly (readonly string[])[];
  /** The heads of the columns, numbered when the first row has none. */
  readonly heads: readonly string[];
  readonly hasHead: boolean;
  /** The line of a quotation mark that hides the lines after it. */
  readonly openQuote?: number;
}

export function sheetOf(text: string): Sheet {
  const { rows, ...fault } = parseCsv(text);
  const [first = []] = rows;
  const hasHead = rows.length > 0 && first.every(looksLikeHead);
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  return {
    rows: hasHead ? rows.slice(1) : rows,
    heads: Array.from({ length: width }, (_, i) => (hasHead && first[i]) || `Column ${i + 1}`),
    hasHead,
    ...fault,
  };
}

/** `name`, `param 1`. A number with a slip in it is none: it would be left out without a word. */
function looksLikeHead(cell: string): boolean {
  return cell === '' || (/\p{L}/u.test(cell) && (cell.match(/\d/g) ?? []).length <= 2);
}

/**
 * The text of a file: UTF-16 by its byte order mark, otherwise UTF-8. Undefined when it is neither: any file can be read as
 * windows-1252, so nothing else is guessed.
 */
export function textOf(octets: Uint8Array): string | undefined {
  const mark = octets.subarray(0, 2).join();
  const encoding = { '255,254': 'utf-16le', '254,255': 'utf-16be' }[mark] ?? 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(octets);
  } catch {
    return undefined;
  }
}
