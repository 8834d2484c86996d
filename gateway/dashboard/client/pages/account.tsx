import type { AnswerOf } from '../../../api/endpoint.ts';
import type { ownSettings } from '../../../endpoints/accounts/own-settings.ts';
import { patch } from '../api/http.ts';
import { useLoad } from '../api/load.ts';
import { may } from '../api/session.ts';
import { Field, Select, TextArea } from '../parts/field.tsx';
import { Form, type FormValues, toast } from '../parts/form.tsx';
import { Card, Loading, PageHead } from '../parts/page.tsx';

type Settings = AnswerOf<typeof ownSettings>;

const PATH = '/v2/account/settings';

const TEXTS = [
  ['shown', 'Your users and keys; viewers and your service provider without codes'],
  ['own', 'Your users and keys, not your service provider'],
  ['hidden', 'Nobody, once they are sent'],
] as const;

export function AccountSettingsPage() {
  const settings = useLoad<Settings>(PATH);
  const save = async (changes: object) => {
    settings.setData(await patch<Settings>(PATH, changes));
    toast('Saved. It counts within seconds.');
  };
  return (
    <>
      <PageHead title="Account" lead="What counts for the whole account." />
      <Loading of={settings}>
        {(shown) => (
          <>
            <Card
              title="On statements"
              lead="Who is named as the buyer. Statements that were issued before stay as they are."
            >
              <Form
                submit="Save buyer"
                of={shown}
                look="plain"
                disabled={!may('owner')}
                onSubmit={(values) => save({ billing: billingIn(values) })}
              >
                <BillingFields />
              </Form>
            </Card>
            <Card title="Texts of messages">
              <Form
                submit="Save choice"
                of={shown}
                look="plain"
                disabled={!may('owner')}
                onSubmit={(values) => save({ message_texts: values.text('message_texts') })}
              >
                <Select name="message_texts" label="Who is shown them" options={TEXTS}>
                  On a message's page, in the inbox and by the API. What customers write, you read in any case.
                </Select>
              </Form>
            </Card>
          </>
        )}
      </Loading>
    </>
  );
}

type Billing = AnswerOf<typeof ownSettings>['billing'];

export function BillingFields() {
  return (
    <>
      <Field name="billing.name" label="Legal name" optional>
        Empty: the name of the account.
      </Field>
      <TextArea name="billing.address" label="Address" optional rows={3}>
        Line by line.
      </TextArea>
      <Field name="billing.gstin" label="GSTIN" optional mono>
        Of a business registered for India's GST.
      </Field>
      <Field name="billing.state" label="State code" optional inputMode="numeric">
        Without a GSTIN: the two digits of the state under GST, like 29.
      </Field>
    </>
  );
}

export function billingIn(values: FormValues) {
  return filled({
    name: values.text('billing.name'),
    address: values.lines('billing.address'),
    gstin: values.text('billing.gstin').toUpperCase(),
    state: values.text('billing.state'),
  });
}

/** The details that are set, in the form of the request. */
export function filled(billing: Billing): object {
  return Object.fromEntries(Object.entries(billing).filter(([, value]) => value !== null && value.length > 0));
}
