import { useState } from 'preact/hooks';
import { post } from '../../../api/http.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { Notice } from '../../../parts/notice.tsx';
import { number } from '../../../parts/number.ts';
import { Time } from '../../../parts/time.tsx';
import { toast } from '../../../parts/toast.tsx';
import type { AccountDetail, ChangedAccount } from './account.ts';

interface CloseDialogProps {
  readonly account: AccountDetail;
  readonly onClose: () => void;
  readonly onChange: (account: AccountDetail) => void;
}

const REMAINING = [
  ['paid_out', 'They are paid out to the customer'],
  ['forfeited', 'They are forfeited'],
] as const;

/** Asks for the account's name, because nothing opens it again. */
export function CloseDialog({ account, onClose, onChange }: CloseDialogProps) {
  const [wrong, setWrong] = useState(false);
  const close = async (values: FormValues) => {
    if (values.text('name') !== account.name) return setWrong(true);
    const { account: closed } = await post<ChangedAccount>(`/v2/admin/accounts/${account.account_id}/close`, {
      remaining: values.text('remaining'),
      reason: values.text('reason'),
    });
    onChange(closed);
    toast(`${account.name} is closed.`);
    onClose();
  };
  return (
    <Dialog title={`Close ${account.name} for good?`} onClose={onClose}>
      <p class="prose">
        Its keys, users, webhooks and numbers stop working within seconds. What is scheduled is cancelled, batches are
        stopped, and what waits is refunded. When nothing waits any more, a line in the statement takes the credits that
        are left
        {account.balance > 0 && ` (${number(account.balance)} now)`}. Nobody can open the account again.
      </p>
      <Form submit="Close account" look="danger" onSubmit={close} onCancel={onClose}>
        <Select name="remaining" label="Credits that are left" options={REMAINING} initial="paid_out" />
        <Field name="reason" label="Reason" hint="It stands in the audit." />
        <Field name="name" label={`Type ${account.name} to close it`} />
      </Form>
      {wrong && <Notice tone="warn">That is not its name. Type {account.name}.</Notice>}
    </Dialog>
  );
}

/** What has become of a closed account. */
export function ClosedNotice({ closed }: { readonly closed: NonNullable<AccountDetail['closed']> }) {
  return (
    <Notice tone="warn">
      Closed <Time at={closed.at} full />
      {closed.reason !== '' && `: ${closed.reason}`}.{' '}
      {closed.erased_at !== null ? (
        <>
          Everything of it was erased <Time at={closed.erased_at} full />.
        </>
      ) : closed.settled_at !== null ? (
        `Its credits are ${closed.remaining === 'paid_out' ? 'paid out' : 'forfeited'}, and nothing waits.`
      ) : (
        'Something of it still waits; its credits are settled when that has ended.'
      )}
    </Notice>
  );
}
