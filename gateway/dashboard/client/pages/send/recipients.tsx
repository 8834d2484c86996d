import { useState } from 'preact/hooks';
import { looksLikePhone, phoneDigits } from '../../../../../shared/platform/sheets/cell.ts';
import { decodeFile } from '../../../../../shared/platform/sheets/encoding.ts';
import { Button } from '../../parts/button.tsx';
import { Select, TextArea } from '../../parts/field.tsx';
import { FileField } from '../../parts/file-field.tsx';
import { counted } from '../../parts/number.ts';
import { Table } from '../../parts/table.tsx';
import { sheetOf } from './sheet.ts';

const PREVIEW = 5;

interface Line {
  readonly cells: readonly string[];
  readonly index: number;
}

/** A box to paste into, a file to read, and a preview of its columns, with the numbers as they are sent. */
export function RecipientFields() {
  const [text, setText] = useState('');
  const sheet = sheetOf(text);
  const guess = Math.max(0, sheet.rows[0]?.findIndex(looksLikePhone) ?? 0);
  // The chosen column counts only while the columns are the same.
  const columns = `${guess} ${sheet.heads.join()}`;
  const [chosen, setChosen] = useState({ columns, column: guess });
  const column = chosen.columns === columns ? chosen.column : guess;
  const [fault, setFault] = useState<string>();
  /** What the file would be in the encoding that Windows uses for "CSV". */
  const [otherwise, setOtherwise] = useState<string>();
  const take = (written: string) => {
    setText(written);
    setFault(undefined);
    setOtherwise(undefined);
  };
  const read = (octets: Uint8Array) => {
    const file = decodeFile(octets);
    if (file.kind === 'text') return take(file.text);
    // A file that cannot be read empties the box: what stood there would be taken for the recipients of the file.
    setText('');
    setFault(file.detail);
    const guessed = decodeFile(octets, 'windows-1252');
    setOtherwise(guessed.kind === 'text' ? guessed.text : undefined);
  };
  return (
    <>
      <TextArea
        name="recipients"
        label="Recipients"
        value={text}
        onInput={take}
        rows={6}
        hint="One line for each: the number, or the columns of a table with the values of the template."
      />
      <FileField label="Or read them from a CSV file" onRead={read} fault={fault} />
      {otherwise !== undefined && <Button onClick={() => take(otherwise)}>Read it as Windows-1252</Button>}
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
              cell: ({ cells: { [i]: cell = '' } }: Line) => (i === column ? phoneDigits(cell) : cell),
            }))}
          />
        </>
      )}
    </>
  );
}
