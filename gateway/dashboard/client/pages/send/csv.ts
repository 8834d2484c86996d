export interface Csv {
  readonly rows: readonly (readonly string[])[];
  /** The line, from 1, of a quotation mark that took following lines for its own: it has no end, or ends amid another cell. */
  readonly openQuote?: number;
}

/** Reads a CSV text (RFC 4180), separated by commas, semicolons or tabs, whichever its first line has. */
export function parseCsv(text: string): Csv {
  const separator = separatorOf(text);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  let openedAt = 0;
  let suspect: number | undefined;
  const endsCell = (next: string) => next.trim() === '' || next === separator;
  const endCell = () => {
    row.push(cell.trim());
    cell = '';
  };
  const endRow = () => {
    endCell();
    if (row.some((value) => value !== '')) rows.push(row);
    row = [];
  };
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text.charAt(i + 1) === '"') cell += text.charAt(++i);
      else {
        quoted = false;
        if (/[\r\n]/.test(cell) && !endsCell(text.charAt(i + 1))) suspect ??= openedAt;
      }
    } else if (character === '"' && cell.trim() === '') {
      cell = '';
      quoted = true;
      openedAt = i;
    } else if (character === separator) endCell();
    else if (character === '\n' || character === '\r') endRow();
    else if (character !== '\ufeff') cell += character;
  }
  endRow();
  if (quoted) suspect ??= openedAt;
  return suspect === undefined ? { rows } : { rows, openQuote: lineAt(text, suspect) };
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split(/\r\n|\r|\n/).length;
}

function separatorOf(text: string): string {
  const [line = ''] = text.split(/[\r\n]/, 1);
  return [',', ';', '\t'].find((sign) => line.includes(sign)) ?? ',';
}
