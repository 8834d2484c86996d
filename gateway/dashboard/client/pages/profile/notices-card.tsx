import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { ownNotices } from '../../../../endpoints/sign-in/notices.ts';
import { put } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { Checkboxes } from '../../parts/checkbox.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Card, Loading } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';

type Choices = AnswerOf<typeof ownNotices>;

/** What one is told of by mail. `address`: a new one shows where that goes. */
export function NoticesCard({ address }: { readonly address: string | null }) {
  const choices = useLoad<Choices>('/v2/profile/notices');
  return (
    <Card title="Mails" lead="What you are told of. Of the same thing, nothing is told twice within an hour.">
      <Loading of={choices}>
        {({ data }) => (
          <>
            {address === null && <Notice tone="warn">No mail is sent to you: you have given no address.</Notice>}
            <Form
              submit="Save choice"
              look="plain"
              sendsAgain
              onSubmit={async (values) => {
                choices.setData(await put<Choices>('/v2/profile/notices', { mail: values.all('mail') }));
                toast('Choice saved.');
              }}
            >
              <Checkboxes
                name="mail"
                legend={address === null ? 'Told by mail' : `Told by mail to ${address}`}
                options={data.map(({ event, when }) => ({ value: event, label: when }))}
                initial={data.filter(({ mail }) => mail).map(({ event }) => event)}
              />
            </Form>
          </>
        )}
      </Loading>
    </Card>
  );
}
