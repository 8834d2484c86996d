import { useState } from 'preact/hooks';
import { Select, TextArea } from '../../parts/field.tsx';
import { counted } from '../../parts/number.ts';
import { Table } from '../../parts/table.tsx';
import { parseCsv } from './csv.ts';
import { digitsOf, looksLikeNumber } from './phone-number.ts';

/** Recipients as they were pasted, or read from a file. */
export interface Sheet {
  readonly rows: readonly (readonly string[])[];
  /** The heads of the columns, numbered when the first row has none. */
  readonly heads: readonly string[];
  readonly hasHead: boolean;
}

export function sheetOf(text: string): Sheet {
  const rows = parseCsv(text);
  const [first = []] = rows;
  const hasHead = rows.length > 0 && first.every(looksLikeHead);
  const width = Math.max(0, ...rows.map((row) => row.length));
  return {
    rows: hasHead ? rows.slice(1) : rows,
    heads: Array.from({ length: width }, (_, i) => (hasHead && first[i]) || `Column ${i + 1}`),
    hasHead,
  };
}

/** `name`, `param 1`. A number with a slip in it is none: it would be left out without a word. */
function looksLikeHead(cell: string): boolean {
  return cell === '' || (/\p{L}/u.test(cell) && (cell.match(/\d/g) ?? []).length <= 2);
}

const PREVIEW = 5;

interface Line {
  readonly cells: readonly string[];
  readonly index: number;
}

/** A box to paste into, a file to read, and a preview of its columns, with the numbers as they are sent. */
export function RecipientFields() {
  const [text, setText] = useState('');
  const sheet = sheetOf(text);
  const guess = Math.max(0, sheet.rows[0]?.findIndex(looksLikeNumber) ?? 0);
  // A choice is of these columns: it does not outlive them.
  const columns = `${guess} ${sheet.heads.join()}`;
  const [chosen, setChosen] = useState({ columns, column: guess });
  const column = chosen.columns === columns ? chosen.column : guess;
  const read = async (file: File | undefined) => setText((await file?.text()) ?? '');
  return (
    <>
      <TextArea
        name="recipients"
        label="Recipients"
        value={text}
        onInput={setText}
        rows={6}
        hint="One line for each: the number, or the columns of a table with the values of the template."
      />
      <label class="field">
        <span>Or read them from a CSV file</span>
        <input
          type="file"
          accept=".csv,text/csv,text/plain"
          onChange={(event) => read(event.currentTarget.files?.[0])}
        />
      </label>
      {sheet.heads.length > 1 && (
        <Select
          name="number_column"
          label="Column with the number"
          options={sheet.heads.map((head, i) => [String(i), head] as const)}
          value={String(column)}
          onInput={(value) => setChosen({ columns, column: Number(value) })}
        />
      )}
      {sheet.heads.length > 0 && (
        <>
          <p class="hint" role="status">
            {sheet.hasHead && 'The first line has the names of the columns and gets no message. '}
            {counted(sheet.rows.length, 'recipient')}
            {sheet.rows.length > PREVIEW && `, the first ${PREVIEW}:`}
          </p>
          <Table
            caption="Preview of the recipients"
            rows={sheet.rows.slice(0, PREVIEW).map((cells, index) => ({ cells, index }))}
            rowKey={({ index }) => String(index)}
            columns={sheet.heads.map((head, i) => ({
              head,
              cell: ({ cells: { [i]: cell = '' } }: Line) => (i === column ? digitsOf(cell) : cell),
            }))}
          />
        </>
      )}
    </>
  );
}
