import { useState } from 'preact/hooks';
import { looksLikePhone, phoneDigits } from '../../../../../shared/platform/sheets/cell.ts';
import type { FieldError } from '../../api/problem.ts';
import { Checkbox } from '../../parts/checkbox.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { PageHead } from '../../parts/page.tsx';
import { type Content, contentOf } from './content.ts';
import { ContentFields, useTemplates, WhenFields } from './fields.tsx';
import { RecipientFields } from './recipients.tsx';
import { type Accepted, SendForm } from './send-form.tsx';
import { Sent } from './sent.tsx';
import { sheetOf } from './sheet.ts';
import { SendTabs } from './tabs.tsx';

/** One text, or one template, to up to 10,000 recipients. */
export function SendManyPage() {
  const templates = useTemplates();
  const [accepted, setAccepted] = useState<Accepted>();
  return (
    <>
      <PageHead title="Send to many" lead="Up to 10,000 recipients, now or at its time." />
      <SendTabs />
      {accepted ? (
        <Sent accepted={accepted} again={() => setAccepted(undefined)} />
      ) : (
        <SendForm
          path="/v2/send-bulk"
          bodyOf={bodyOf}
          nameOf={(id) => templates.find((one) => one.id === id)?.name}
          onDone={setAccepted}
          placed={placed}
          faultOf={faultOf}
        >
          <RecipientFields />
          <ContentFields templates={templates} ownParams />
          <Checkbox name="dedupe" label="Leave out equal entries" initial />
          <Checkbox name="skip_opted_out" label="Leave out recipients who opted out" initial />
          <WhenFields />
        </SendForm>
      )}
    </>
  );
}

/** With a template the other columns are its values, in their order. */
function bodyOf(values: FormValues) {
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

/**
 * Without a template each line is one recipient: a line with several
 * numbers is refused, unless a first line names columns.
 */
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

/** `to[3]` as people count, with the number that they wrote: the box of the recipients says it. */
function placed(error: FieldError, { to, recipients }: Content): FieldError {
  const index = /^(?:to|recipients)\[(\d+)\]/.exec(error.field)?.[1];
  if (index === undefined) return error;
  const number = Array.isArray(to) ? to[Number(index)] : recipients?.[Number(index)]?.to;
  return { ...error, field: 'recipients', detail: `Recipient ${Number(index) + 1} (${number}): ${error.detail}` };
}
