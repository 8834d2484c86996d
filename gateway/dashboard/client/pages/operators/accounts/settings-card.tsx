import { patch } from '../../../api/http.ts';
import { may } from '../../../api/session.ts';
import { BillingFields, billingIn, filled } from '../../../parts/billing.tsx';
import { toast } from '../../../parts/dialog.tsx';
import { DltIdField, Field, Select } from '../../../parts/field.tsx';
import { changed, Form, type FormValues } from '../../../parts/form.tsx';
import { Card } from '../../../parts/page.tsx';
import {
  type AccountDetail,
  type ChangedAccount,
  CTA_CHECKS,
  LINE_BREAKS,
  LOGS,
  NUMBER_CHECKS,
  SENDER_RULES,
  SWITCH,
  TEXTS,
} from './accounts.tsx';

interface SettingsCardProps {
  readonly account: AccountDetail;
  readonly onChange: (account: AccountDetail) => void;
}

export function SettingsCard({ account, onChange }: SettingsCardProps) {
  const { settings, name, expiry_date } = account;
  const shown = {
    ...settings,
    name,
    expiry_date,
    entity_id: settings.entity_id ?? '',
    country: settings.country ?? '',
    message_days: settings.message_days ?? undefined,
    billing: filled(settings.billing),
  };
  const save = async (values: FormValues) => {
    // Emptied, a PE id or a country is refused: they can be changed, not taken away.
    const now = {
      name: values.text('name'),
      ...(may('admin:money') && { expiry_date: values.text('expiry_date') }),
      senders: values.text('senders'),
      dlt: values.text('dlt'),
      entity_id: values.text('entity_id'),
      number_check: values.text('number_check'),
      country: values.text('country').toUpperCase(),
      cta_check: values.text('cta_check'),
      line_breaks: values.text('line_breaks'),
      log: values.text('log'),
      message_days: values.number('message_days'),
      message_texts: values.text('message_texts'),
      billing: billingIn(values),
    };
    const path = `/v2/admin/accounts/${account.account_id}`;
    const answer = await patch<ChangedAccount>(path, changed(now, shown));
    onChange(answer.account);
    toast('Settings saved. Gateways and workers see them within seconds.');
  };
  return (
    <Card title="Settings">
      <Form submit="Save settings" look="plain" onSubmit={save}>
        <Field name="name" label="Name" initial={account.name} />
        {may('admin:money') && (
          <Field name="expiry_date" label="Credits may be spent until" type="date" initial={account.expiry_date} />
        )}
        <Select name="senders" label="Senders" options={SENDER_RULES} initial={settings.senders} />
        <Select
          name="dlt"
          label="India's DLT"
          options={SWITCH}
          initial={settings.dlt}
          hint="On brings registered senders and the check of numbers."
        />
        <DltIdField name="entity_id" label="PE id" optional={settings.entity_id === null} initial={shown.entity_id} />
        <Select
          name="number_check"
          label="Check of recipients"
          options={NUMBER_CHECKS}
          initial={settings.number_check}
        />
        <Field
          name="country"
          label="Country of numbers without a code"
          optional={settings.country === null}
          initial={shown.country}
          hint="Two letters: IN. Numbers of handsets and in searches are taken to be from there; a send needs the country code."
        />
        <Select
          name="line_breaks"
          label="Line breaks of DLT texts"
          options={LINE_BREAKS}
          initial={settings.line_breaks}
        />
        <Select
          name="cta_check"
          label="Texts with a link or number that is not registered"
          options={CTA_CHECKS}
          initial={settings.cta_check}
          hint="The account registers them under Links and numbers. A warning is told by a dry run and on the message's page."
        />
        <Field
          name="message_days"
          label="Days that messages are kept"
          optional={settings.message_days === null}
          inputMode="numeric"
          initial={settings.message_days === null ? '' : String(settings.message_days)}
          hint="After their end, at least 14. More than for all accounts changes nothing."
        />
        <Select name="log" label="Kept for timelines" options={LOGS} initial={settings.log} />
        <Select
          name="message_texts"
          label="Who is shown texts of messages"
          options={TEXTS}
          initial={settings.message_texts}
        />
        <h3>Buyer on statements</h3>
        <BillingFields billing={settings.billing} />
      </Form>
    </Card>
  );
}
