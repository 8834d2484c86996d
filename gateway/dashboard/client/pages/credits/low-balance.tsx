import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { lowBalance } from '../../../../endpoints/statistics/low-balance.ts';
import { put } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { amount } from '../../parts/number.ts';
import { toast } from '../../parts/toast.tsx';

type LowBalance = AnswerOf<typeof lowBalance>;

const PATH = '/v2/account/low-balance';

/** At which balance somebody is told, and the button that changes it. */
export function LowBalanceLine() {
  const { data, setData } = useLoad<LowBalance>(PATH);
  const [changing, setChanging] = useState(false);
  if (data === undefined) return null;
  const close = () => setChanging(false);
  return (
    <p class="soft acts">
      <span>
        {data.threshold === null
          ? 'You are told when the credits last for less than two days.'
          : `You are told when no more than ${amount(data.threshold)} credits are left.`}{' '}
        <a href="/dashboard/profile">Who is told by mail</a>
      </span>
      {may('manage') && <Button onClick={() => setChanging(true)}>Change threshold</Button>}
      {changing && (
        <Dialog title="When the balance is low" onClose={close}>
          <Form
            submit="Save threshold"
            onCancel={close}
            onSubmit={async (values) => {
              setData(await put<LowBalance>(PATH, { threshold: values.number('threshold') }));
              close();
              toast('Threshold saved.');
            }}
          >
            <Field
              name="threshold"
              label="Credits"
              type="number"
              hint="You are told when no more than these are left. 0: when they last for less than two days at the rate of the last week."
              initial={String(data.threshold ?? 0)}
            />
          </Form>
        </Dialog>
      )}
    </p>
  );
}
