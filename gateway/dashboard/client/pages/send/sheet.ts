import { isBlank } from '../../../../../shared/platform/sheets/cell.ts';
import { looksLikeHead, parseSheet } from '../../../../../shared/platform/sheets/parse.ts';

/** Recipients as they were pasted, or read from a file. */
interface RecipientSheet {
  readonly rows: readonly (readonly string[])[];
  /** The heads of the columns, numbered when the first row has none. */
  readonly heads: readonly string[];
  readonly hasHead: boolean;
  /** Why it cannot be sent as it is. */
  readonly fault?: string;
}

/** The most recipients of one request, and a head; a template has at most 250 slots. */
const LIMITS = { rows: 10_001, columns: 256, cell: 8_192 } as const;

export function sheetOf(text: string): RecipientSheet {
  const { rows: read, fault } = parseSheet(text, LIMITS);
  // Spreadsheets export columns at the end in which nothing is: they would be values of a template.
  const width = read.reduce(
    (widest, { cells }) => Math.max(widest, cells.findLastIndex((cell) => !isBlank(cell)) + 1),
    0,
  );
  const rows = read.map(({ cells }) => cells.slice(0, width).map((cell) => cell.trim()));
  const [first = []] = rows;
  const hasHead = rows.length > 0 && looksLikeHead(first);
  return {
    rows: hasHead ? rows.slice(1) : rows,
    heads: Array.from({ length: width }, (_, i) => (hasHead && first[i]) || `Column ${i + 1}`),
    hasHead,
    ...(fault === undefined ? {} : { fault }),
  };
}

/** The values of a template from a text area: one on each line, exactly as written. An empty line is an empty value. */
export function templateValues(written: string): string[] {
  return written === '' ? [] : written.split('\n');
}
