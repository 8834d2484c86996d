import { useState } from 'preact/hooks';
import { phoneDigits } from '../../../../../shared/platform/sheets/cell.ts';
import { Field } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { PageHead } from '../../parts/page.tsx';
import { contentOf } from './content.ts';
import { ContentFields, useTemplates, WhenFields } from './fields.tsx';
import { type Accepted, SendForm } from './send-form.tsx';
import { Sent } from './sent.tsx';
import { SendTabs } from './tabs.tsx';

/** One SMS to one recipient, now or later. */
export function SendOnePage() {
  const templates = useTemplates();
  const [accepted, setAccepted] = useState<Accepted>();
  return (
    <>
      <PageHead title="Send" lead="An SMS, now or at its time. It is checked before anything is sent." />
      <SendTabs />
      {accepted ? (
        <Sent accepted={accepted} again={() => setAccepted(undefined)} />
      ) : (
        <SendForm
          path="/v2/send"
          bodyOf={bodyOf}
          nameOf={(id) => templates.find((one) => one.id === id)?.name}
          onDone={setAccepted}
        >
          <Field name="to" label="Recipient" type="tel" hint="With its country code: +91 98765 43210." />
          <ContentFields templates={templates} />
          <WhenFields />
        </SendForm>
      )}
    </>
  );
}

function bodyOf(values: FormValues) {
  return { to: phoneDigits(values.text('to')), ...contentOf(values) };
}
