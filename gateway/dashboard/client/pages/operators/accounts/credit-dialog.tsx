import { useState } from 'preact/hooks';
import { create } from '../../../api/http.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { number } from '../../../parts/number.ts';
import { toast } from '../../../parts/toast.tsx';
import type { AccountDetail } from './account.ts';

interface Credit {
  readonly kind: 'top_up' | 'correction';
  readonly amount: number;
  readonly reason: string;
}

interface CreditDialogProps {
  readonly account: AccountDetail;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const KINDS = [
  ['top_up', 'Top-up: adds credits that were paid'],
  ['correction', 'Correction: puts a mistake right'],
] as const;

/** Two steps: what to book, then a second look at it. Money that is booked wrongly is put right by a correction only. */
export function CreditDialog({ account, onClose, onDone }: CreditDialogProps) {
  const [typed, setTyped] = useState<Credit>();
  const [sure, setSure] = useState(false);
  const look = async (values: FormValues) => {
    setTyped({
      kind: values.text('kind') === 'correction' ? 'correction' : 'top_up',
      amount: values.neededNumber('amount'),
      reason: values.text('reason'),
    });
    setSure(true);
  };
  const book = async () => {
    if (typed === undefined) return;
    await create(`/v2/admin/accounts/${account.account_id}/credits`, typed);
    toast(typed.amount < 0 ? `Took ${number(-typed.amount)} credits.` : `Added ${number(typed.amount)} credits.`);
    onDone();
    onClose();
  };
  if (sure && typed !== undefined) {
    return (
      <Dialog title={typed.kind === 'top_up' ? 'Top up these credits?' : 'Make this correction?'} onClose={onClose}>
        <SecondLook account={account} credit={typed} />
        <Form submit={actOf(typed)} onSubmit={book} onCancel={() => setSure(false)} />
      </Dialog>
    );
  }
  return (
    <Dialog title={`Credits of ${account.name}`} onClose={onClose}>
      <Form submit="Look at it again" onSubmit={look} onCancel={onClose}>
        <Select name="kind" label="What" options={KINDS} initial={typed?.kind ?? 'top_up'} />
        <Field
          name="amount"
          label="Credits"
          inputMode="numeric"
          initial={typed === undefined ? '' : String(typed.amount)}
          hint="A correction may be negative, such as -500."
        />
        <Field
          name="reason"
          label="Reason"
          initial={typed?.reason ?? ''}
          hint="The account reads it in its statement: “Invoice 7, paid on 22 November”."
        />
      </Form>
    </Dialog>
  );
}

function SecondLook({ account, credit }: { readonly account: AccountDetail; readonly credit: Credit }) {
  const { amount, reason } = credit;
  return (
    <Facts
      facts={[
        ['Account', account.name],
        ['Id', <code>{account.account_id}</code>],
        [amount < 0 ? 'Takes' : 'Adds', <strong>{`${number(Math.abs(amount))} credits`}</strong>],
        ['Balance', `${number(account.balance)} → ${number(account.balance + amount)}`],
        ['Reason', reason === '' ? '–' : reason],
      ]}
    />
  );
}

function actOf({ kind, amount }: Credit): string {
  if (kind === 'top_up') return `Add ${number(amount)} credits`;
  return amount < 0 ? `Take ${number(-amount)} credits` : `Add ${number(amount)} credits`;
}
