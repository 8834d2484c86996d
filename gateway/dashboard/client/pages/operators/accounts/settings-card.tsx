import { patch } from '../../../api/http.ts';
import { Field, Select } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { Card } from '../../../parts/page.tsx';
import { toast } from '../../../parts/toast.tsx';
import type { AccountDetail } from './account.ts';
import { LOGS, NUMBER_CHECKS, SENDER_RULES, SWITCH } from './settings-fields.ts';

interface SettingsCardProps {
  readonly account: AccountDetail;
  readonly onChange: (account: AccountDetail) => void;
}

export function SettingsCard({ account, onChange }: SettingsCardProps) {
  const { settings } = account;
  const save = async (values: FormValues) => {
    const { account: changed } = await patch<{ account: AccountDetail }>(`/v2/admin/accounts/${account.account_id}`, {
      name: values.text('name'),
      senders: values.text('senders'),
      dlt: values.text('dlt'),
      number_check: values.text('number_check'),
      log: values.text('log'),
      // A day that is over may stay, but not be set.
      ...(values.text('expiry_date') !== account.expiry_date && { expiry_date: values.text('expiry_date') }),
      ...(values.optional('entity_id') && { entity_id: values.text('entity_id') }),
      ...(values.optional('country') && { country: values.text('country').toUpperCase() }),
    });
    onChange(changed);
    toast('Settings saved. Gateways and workers see them within seconds.');
  };
  return (
    <Card title="Settings">
      <Form submit="Save settings" look="plain" onSubmit={save}>
        <Field name="name" label="Name" initial={account.name} />
        <Field name="expiry_date" label="Credits may be spent until" type="date" initial={account.expiry_date} />
        <Select name="senders" label="Senders" options={SENDER_RULES} initial={settings.senders} />
        <Select name="dlt" label="India's DLT" options={SWITCH} initial={settings.dlt} />
        <Field name="entity_id" label="PE id" optional inputMode="numeric" initial={settings.entity_id ?? ''} />
        <Select
          name="number_check"
          label="Check of recipients"
          options={NUMBER_CHECKS}
          initial={settings.number_check}
        />
        <Field name="country" label="Country of numbers without a code" optional initial={settings.country ?? ''} />
        <Select name="log" label="Kept for timelines" options={LOGS} initial={settings.log} />
      </Form>
    </Card>
  );
}
