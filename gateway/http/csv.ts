import { inSlices } from '../../shared/platform/runtime/turns.ts';

/** The value of a cell: undefined and null are empty. */
type Cell = string | number | null | undefined;

/** The columns of a CSV document, with what is in them. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

/** A CSV document (RFC 4180) with a column for each entry of `columns`. Works in slices, so that long lists hold nobody up. */
export async function csvText<Row>(columns: Columns<Row>, rows: readonly Row[]): Promise<string> {
  return csvHead(columns) + (await csvLines(columns, rows));
}

/** The first line, for a document that is sent piece by piece. */
export function csvHead<Row>(columns: Columns<Row>): string {
  return `${Object.keys(columns).map(csvCell).join(',')}\r\n`;
}

export async function csvLines<Row>(columns: Columns<Row>, rows: readonly Row[]): Promise<string> {
  const cells = Object.values(columns);
  let lines = '';
  await inSlices(rows, (row) => {
    lines += `${cells.map((cell) => csvCell(cell(row))).join(',')}\r\n`;
  });
  return lines;
}

/** A spreadsheet takes these for the beginning of a formula (OWASP, CSV Injection). Numbers of ours may be negative. */
const FORMULA = /^[=+\-@\t\r\n]/;

function csvCell(value: Cell): string {
  if (value === undefined || value === null) return '';
  const text = String(value);
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
