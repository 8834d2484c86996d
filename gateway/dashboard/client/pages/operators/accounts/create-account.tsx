import { useLocation } from 'preact-iso/router';
import { create } from '../../../api/http.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { toast } from '../../../parts/toast.tsx';
import type { Account } from './account.ts';
import { NUMBER_CHECKS, SENDER_RULES, SWITCH } from './settings-fields.ts';

export function CreateAccountDialog({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const make = async (values: FormValues) => {
    const { account } = await create<{ account: Account }>('/v2/admin/accounts', {
      name: values.text('name'),
      senders: values.text('senders'),
      dlt: values.text('dlt'),
      number_check: values.text('number_check'),
      ...(values.optional('entity_id') && { entity_id: values.text('entity_id') }),
      ...(values.optional('expiry_date') && { expiry_date: values.text('expiry_date') }),
    });
    toast('Account created. Top it up next.');
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
          initial="off"
          hint="On for accounts that send in India."
        />
        <Field
          name="entity_id"
          label="PE id"
          optional
          inputMode="numeric"
          hint="10 to 20 digits, for accounts with DLT."
        />
        <Select name="senders" label="Senders" options={SENDER_RULES} initial="registered" />
        <Select name="number_check" label="Check of recipients" options={NUMBER_CHECKS} initial="off" />
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
