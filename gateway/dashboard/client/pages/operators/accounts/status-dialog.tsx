import { post } from '../../../api/http.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { toast } from '../../../parts/toast.tsx';
import type { AccountDetail, ChangedAccount } from './account.ts';

interface StatusDialogProps {
  readonly account: AccountDetail;
  readonly onClose: () => void;
  readonly onChange: (account: AccountDetail) => void;
}

const STOPS = [
  ['suspended', 'Suspend: its sends are refused'],
  ['paused', 'Pause: its sends are accepted and wait'],
] as const;

/** Asks before an account stops sending, or sends again. */
export function StatusDialog({ account, onClose, onChange }: StatusDialogProps) {
  const isActive = account.status === 'active';
  const change = async (values: FormValues) => {
    const { account: changed } = await post<ChangedAccount>(`/v2/admin/accounts/${account.account_id}/status`, {
      status: isActive ? values.text('status') : 'active',
      ...(values.optional('reason') && { reason: values.text('reason') }),
    });
    onChange(changed);
    toast(`${account.name} is ${changed.status}.`);
    onClose();
  };
  return (
    <Dialog title={isActive ? `Stop ${account.name}?` : `Resume ${account.name}?`} onClose={onClose}>
      <p class="prose">
        {isActive
          ? 'What waits to leave stays where it is until you resume the account. Nothing is lost.'
          : 'It may send again; what waited leaves first.'}
      </p>
      <Form
        submit={isActive ? 'Stop account' : 'Resume account'}
        look={isActive ? 'danger' : 'primary'}
        onSubmit={change}
        onCancel={onClose}
      >
        {isActive && <Select name="status" label="How" options={STOPS} initial="suspended" />}
        <Field name="reason" label="Reason" optional hint="It stands in the audit, which the account can read." />
      </Form>
    </Dialog>
  );
}
