import { useState } from 'preact/hooks';
import { phoneDigits } from '../../../../../../shared/platform/sheets/cell.ts';
import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { explain } from '../../../../../endpoints/routing/routes.ts';
import { get } from '../../../api/http.ts';
import { AccountField } from '../../../parts/account.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { Card } from '../../../parts/page.tsx';

/** As `GET /v2/admin/routes/explain` shows it. */
type Explanation = AnswerOf<typeof explain>;

const GROUPS = [
  ['transactional', 'Transactional'],
  ['promotional', 'Promotional'],
] as const;

/** Who would carry a message now. Sends nothing. */
export function ExplainCard() {
  const [found, setFound] = useState<Explanation>();
  const ask = async (values: FormValues) => {
    setFound(
      await get<Explanation>('/v2/admin/routes/explain', {
        to: phoneDigits(values.text('to')),
        account_id: values.text('account_id'),
        sender: values.text('sender'),
        route: values.text('route'),
      }),
    );
  };
  return (
    <Card title="Who would carry it?" lead="Says who would carry a message now, and why. Sends nothing.">
      <Form submit="Explain" look="plain" onSubmit={ask}>
        <Field name="to" label="Recipient" inputMode="tel" hint="Country code first: 919876543210." />
        <AccountField name="account_id" label="Account" />
        <Field name="sender" label="Sender" optional />
        <Select name="route" label="Route" options={GROUPS} initial="transactional" />
      </Form>
      <div role="status">
        {found && (
          <>
            <p>
              <strong>{found.verdict}</strong> {found.by}
            </p>
            <ol>
              {found.carriers.map(({ carrier_id: id, words, takes }) => (
                <li key={id}>
                  <a href={`/dashboard/admin/carriers/${id}`}>{id}</a>: {words}
                  {takes ? ', takes it' : ''}
                </li>
              ))}
            </ol>
          </>
        )}
      </div>
    </Card>
  );
}
