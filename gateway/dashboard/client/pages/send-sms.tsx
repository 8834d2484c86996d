import { useState } from 'preact/hooks';
import { looksLikePhone, phoneDigits } from '../../../../shared/platform/sheets/cell.ts';
import { decodeFile } from '../../../../shared/platform/sheets/parse.ts';
import type { FieldError } from '../api/http.ts';
import { Checkbox, Field, FileField, Select, TextArea } from '../parts/field.tsx';
import type { FormValues } from '../parts/form.tsx';
import { Table } from '../parts/list.tsx';
import { Button, counted } from '../parts/value.tsx';
import { type Content, ContentFields, contentOf, useTemplates, WhenFields } from './send-fields.tsx';
import { SendPage } from './send-form.tsx';
import { sheetOf } from './send-values.ts';

export function SendOnePage() {
  const templates = useTemplates();
  return (
    <SendPage
      title="Send"
      lead="An SMS, now or at its time. It is checked before anything is sent."
      path="/v2/send"
      bodyOf={bodyOfOne}
      nameOf={(id) => templates.find((one) => one.id === id)?.name}
    >
      <Field name="to" label="Recipient" type="tel">
        With its country code: +91 98765 43210.
      </Field>
      <ContentFields templates={templates} />
      <WhenFields />
    </SendPage>
  );
}

function bodyOfOne(values: FormValues) {
  return { to: phoneDigits(values.text('to')), ...contentOf(values) };
}

export function SendManyPage() {
  const templates = useTemplates();
  return (
    <SendPage
      title="Send to many"
      lead="Up to 10,000 recipients, now or at its time."
      path="/v2/send-bulk"
      bodyOf={bodyOfMany}
      nameOf={(id) => templates.find((one) => one.id === id)?.name}
      placed={placed}
      faultOf={faultOf}
    >
      <RecipientFields />
      <ContentFields templates={templates} ownParams />
      <Checkbox name="dedupe" label="Leave out equal entries" initial />
      <Checkbox name="skip_opted_out" label="Leave out recipients who opted out" initial />
      <WhenFields />
    </SendPage>
  );
}

/** With a template the other columns are its values, in order. */
function bodyOfMany(values: FormValues) {
  const { rows } = sheetOf(values.exact('recipients'));
  const column = values.number('number_column') ?? 0;
  const content = contentOf(values);
  const numberOf = (row: readonly string[]) => phoneDigits(row[column] ?? '');
  const own = content.template_id !== undefined && rows.some((row) => row.length > 1);
  return {
    ...(own
      ? { recipients: rows.map((row) => ({ to: numberOf(row), params: row.filter((_, i) => i !== column) })) }
      : { to: rows.map(numberOf) }),
    ...content,
    dedupe: values.has('dedupe'),
    skip_opted_out: values.has('skip_opted_out'),
  };
}

/** Without a template a line is one recipient; several numbers on a line need a first line that names columns. */
function faultOf(values: FormValues): FieldError | undefined {
  const { rows, hasHead, fault } = sheetOf(values.exact('recipients'));
  if (fault !== undefined) return refused(fault);
  if (hasHead || values.optional('template_id') !== undefined) return undefined;
  const row = rows.findIndex((cells) => cells.filter(looksLikePhone).length > 1) + 1;
  if (row === 0) return undefined;
  return refused(
    `Row ${row} has several numbers. Write each on a line of its own, or name the columns in a first line.`,
  );
}

function refused(detail: string): FieldError {
  return { field: 'recipients', code: 'invalid_value', detail };
}

/** `to[3]` as "Recipient 4" with the number as it was written, shown at the recipients' box. */
function placed(error: FieldError, { to, recipients }: Content): FieldError {
  const index = /^(?:to|recipients)\[(\d+)\]/.exec(error.field)?.[1];
  if (index === undefined) return error;
  const number = Array.isArray(to) ? to[Number(index)] : recipients?.[Number(index)]?.to;
  return { ...error, field: 'recipients', detail: `Recipient ${Number(index) + 1} (${number}): ${error.detail}` };
}

const PREVIEW = 5;

interface Line {
  readonly cells: readonly string[];
  readonly index: number;
}

/** Paste or choose a file; the preview shows the columns and the numbers as they are sent. */
function RecipientFields() {
  const [text, setText] = useState('');
  const sheet = sheetOf(text);
  const guess = Math.max(0, sheet.rows[0]?.findIndex(looksLikePhone) ?? 0);
  // The chosen column counts only while the columns are the same.
  const columns = `${guess} ${sheet.heads.join()}`;
  const [chosen, setChosen] = useState({ columns, column: guess });
  const column = chosen.columns === columns ? chosen.column : guess;
  const [fault, setFault] = useState<string>();
  /** The file decoded as Windows-1252, the encoding of Excel's plain "CSV". */
  const [otherwise, setOtherwise] = useState<string>();
  const take = (written: string) => {
    setText(written);
    setFault(undefined);
    setOtherwise(undefined);
  };
  const read = (octets: Uint8Array) => {
    const file = decodeFile(octets);
    if (file.kind === 'text') return take(file.text);
    // An unreadable file empties the box, or the old text would be sent in its place.
    setText('');
    setFault(file.detail);
    const guessed = decodeFile(octets, 'windows-1252');
    setOtherwise(guessed.kind === 'text' ? guessed.text : undefined);
  };
  return (
    <>
      <TextArea name="recipients" label="Recipients" value={text} onInput={take} rows={6}>
        One line for each: the number, or the columns of a table with the values of the template.
      </TextArea>
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
