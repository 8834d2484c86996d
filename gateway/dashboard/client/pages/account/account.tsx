import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { ownSettings } from '../../../../endpoints/accounts/own-settings.ts';
import { patch } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { BillingFields, billingIn } from '../../parts/billing.tsx';
import { toast } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Card, Loading, PageHead } from '../../parts/page.tsx';

type Settings = AnswerOf<typeof ownSettings>;

const PATH = '/v2/account/settings';

const TEXTS = [
  ['shown', 'Your users and keys; viewers and your service provider without codes'],
  ['own', 'Your users and keys, not your service provider'],
  ['hidden', 'Nobody, once they are sent'],
] as const;

/** What owners set for their account. */
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
        {({ message_texts, billing }) => (
          <>
            <Card
              title="On statements"
              lead="Who is named as the buyer. Statements that were issued before stay as they are."
            >
              <Form
                submit="Save buyer"
                look="plain"
                disabled={!may('owner')}
                onSubmit={(values) => save({ billing: billingIn(values) })}
              >
                <BillingFields billing={billing} />
              </Form>
            </Card>
            <Card title="Texts of messages">
              <Form
                submit="Save choice"
                look="plain"
                disabled={!may('owner')}
                onSubmit={(values) => save({ message_texts: values.text('message_texts') })}
              >
                <Select
                  name="message_texts"
                  label="Who is shown them"
                  options={TEXTS}
                  initial={message_texts}
                  hint="On a message's page, in the inbox and by the API. What customers write, you read in any case."
                />
              </Form>
            </Card>
          </>
        )}
      </Loading>
    </>
  );
}
