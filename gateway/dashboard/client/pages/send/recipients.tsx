import { useState } from 'preact/hooks';
import { Select, TextArea } from '../../parts/field.tsx';
import { FileField } from '../../parts/file-field.tsx';
import { counted } from '../../parts/number.ts';
import { Table } from '../../parts/table.tsx';
import { digitsOf, looksLikeNumber } from './phone-number.ts';
import { sheetOf, textOf } from './sheet.ts';

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
  // The chosen column counts only while the columns are the same.
  const columns = `${guess} ${sheet.heads.join()}`;
  const [chosen, setChosen] = useState({ columns, column: guess });
  const column = chosen.columns === columns ? chosen.column : guess;
  const [isUtf8, setUtf8] = useState(true);
  const read = (octets: Uint8Array) => {
    const written = textOf(octets);
    // A file that cannot be read empties the box: what stood there would be taken for the recipients of the file.
    setText(written ?? '');
    setUtf8(written !== undefined);
  };
  return (
    <>
      <TextArea
        name="recipients"
        label="Recipients"
        value={text}
        onInput={(written) => {
          setText(written);
          setUtf8(true);
        }}
        rows={6}
        hint="One line for each: the number, or the columns of a table with the values of the template."
      />
      <FileField
        label="Or read them from a CSV file"
        onRead={read}
        fault={isUtf8 ? undefined : 'It is not UTF-8: its letters would go out as others. Save it as “CSV UTF-8”.'}
      />
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
