import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { newAccount } from '../../../../../endpoints/accounts/accounts.ts';
import { create } from '../../../api/http.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { DltIdField } from '../../../parts/dlt-id.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { toast } from '../../../parts/toast.tsx';
import { NUMBER_CHECKS, SENDER_RULES, SWITCH } from './settings-fields.ts';

export function CreateAccountDialog({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const [dlt, setDlt] = useState('off');
  const make = async (values: FormValues) => {
    const { account, warnings } = await create<AnswerOf<typeof newAccount>>('/v2/admin/accounts', {
      name: values.text('name'),
      senders: values.text('senders'),
      dlt: values.text('dlt'),
      number_check: values.text('number_check'),
      ...(values.optional('entity_id') && { entity_id: values.text('entity_id') }),
      ...(values.optional('expiry_date') && { expiry_date: values.text('expiry_date') }),
    });
    if (warnings) toast(warnings.join(' '), 'bad');
    else toast('Account created. Top it up next.');
    route(`/dashboard/admin/accounts/${account.account_id}`);
  };
  return (
    <Dialog title="Create account" onClose={onClose}>
      <Form submit="Create account" onSubmit={make} onCancel={onClose}>
        <Field name="name" label="Name" hint="What people call it." />
        <Select
          name="dlt"
          label="India's DLT"
          options={SWITCH}
          value={dlt}
          onInput={setDlt}
          hint="On for accounts that send in India: it brings registered senders and the check of numbers."
        />
        {dlt === 'on' && (
          <DltIdField name="entity_id" label="PE id" optional hint="Of the business on the DLT platform." />
        )}
        {/* A new key: the choice that goes with DLT. It can be changed. */}
        <Select key={`senders ${dlt}`} name="senders" label="Senders" options={SENDER_RULES} initial="registered" />
        <Select
          key={`check ${dlt}`}
          name="number_check"
          label="Check of recipients"
          options={NUMBER_CHECKS}
          initial={dlt}
        />
        <Field
          name="expiry_date"
          label="Credits may be spent until"
          type="date"
          optional
          hint="A year from now unless given."
        />
      </Form>
    </Dialog>
  );
}
