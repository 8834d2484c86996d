import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { setLimits } from '../../../../../endpoints/limits/limits.ts';
import { put } from '../../../api/http.ts';
import { useLoad } from '../../../api/load.ts';
import { may } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { FormDialog, useDialog } from '../../../parts/dialog.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Card, Loading } from '../../../parts/page.tsx';
import {
  BRAKES,
  CapFields,
  countriesIn,
  DaytimeFields,
  daytimeOf,
  HoldsCard,
  type Limits,
  RecipientFacts,
  SpendingStats,
} from '../../limits/limits-parts.tsx';

interface LimitsCardProps {
  readonly account: string;
  readonly name: string;
}

/** What an account may spend and whom it may send to, for operators. */
export function LimitsCard({ account, name }: LimitsCardProps) {
  const path = `/v2/admin/accounts/${account}`;
  const loaded = useLoad<Limits>(`${path}/limits`);
  const [dialog, open] = useDialog();
  const ask = (shown: Limits) =>
    open(
      <FormDialog
        title={`Limits of ${name}`}
        submit="Set limits"
        onSubmit={async (values) => {
          const countries = countriesIn(values.text('countries'));
          const { limits } = await put<AnswerOf<typeof setLimits>>(`${path}/limits`, {
            spend_per_day: values.number('spend_per_day'),
            spend_per_month: values.number('spend_per_month'),
            ...(countries.length > 0 && { countries }),
            ...daytimeOf(values),
            recipient_per_hour: values.number('recipient_per_hour'),
            messages_per_conversation: values.number('messages_per_conversation'),
            brake: values.text('brake'),
          });
          loaded.setData(limits);
          return `The limits of ${name} are set.`;
        }}
      >
        <CapFields day={shown.day} month={shown.month} />
        <Field
          name="countries"
          label="Countries"
          optional
          initial={shown.countries?.join(', ') ?? ''}
          hint="Two letters each: IN, AE. Empty: all."
        />
        <DaytimeFields daytime={shown.daytime} />
        <Field
          name="recipient_per_hour"
          label="Messages to one recipient in a clock hour"
          optional
          inputMode="numeric"
          initial={String(shown.recipient_per_hour ?? '')}
          hint="Empty: any number."
        />
        <Field
          name="messages_per_conversation"
          label="Messages in a chat-app conversation"
          optional
          inputMode="numeric"
          initial={String(shown.messages_per_conversation ?? '')}
          hint="The first included. It is paid once, and the provider takes money for each. Empty: any number."
        />
        <Select
          name="brake"
          label="Traffic that looks like fraud"
          options={BRAKES}
          initial={shown.brake}
          hint="Of a prefix whose messages rise while fewer arrive. It needs three days to know what is usual."
        />
      </FormDialog>,
    );
  const { data } = loaded;
  const change = may('admin:support') && data && <Button onClick={() => ask(data)}>Set limits</Button>;
  return (
    <>
      <Card title="Limits" actions={change}>
        <Loading of={loaded}>
          {(limits) => (
            <>
              <SpendingStats day={limits.day} month={limits.month} />
              <RecipientFacts limits={limits} />
            </>
          )}
        </Loading>
      </Card>
      {data && <HoldsCard holds={data.holds} path={path} mayRelease={may('admin:support')} onDone={loaded.reload} />}
      {dialog}
    </>
  );
}
