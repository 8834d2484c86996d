import type { AnswerOf } from '../../../api/endpoint.ts';
import type { ownSettings } from '../../../endpoints/accounts/own-settings.ts';
import { Field, TextArea } from './field.tsx';
import type { FormValues } from './form.tsx';

/** The buyer on statements, as owners and operators set it. */

type Billing = AnswerOf<typeof ownSettings>['billing'];

export function BillingFields({ billing: { name, address, gstin, state } }: { readonly billing: Billing }) {
  return (
    <>
      <Field
        name="billing.name"
        label="Legal name"
        optional
        initial={name ?? ''}
        hint="Empty: the name of the account."
      />
      <TextArea
        name="billing.address"
        label="Address"
        optional
        rows={3}
        initial={address.join('\n')}
        hint="Line by line."
      />
      <Field
        name="billing.gstin"
        label="GSTIN"
        optional
        mono
        initial={gstin ?? ''}
        hint="Of a business registered for India's GST."
      />
      <Field
        name="billing.state"
        label="State code"
        optional
        inputMode="numeric"
        initial={state ?? ''}
        hint="Without a GSTIN: the two digits of the state under GST, like 29."
      />
    </>
  );
}

/** As it is sent: what is left empty is not on statements. */
export function billingIn(values: FormValues) {
  return filled({
    name: values.text('billing.name'),
    address: values.lines('billing.address'),
    gstin: values.text('billing.gstin').toUpperCase(),
    state: values.text('billing.state'),
  });
}

/** What is set, in the same form. */
export function filled(billing: Billing): object {
  return Object.fromEntries(Object.entries(billing).filter(([, value]) => value !== null && value.length > 0));
}
