import { useState } from 'preact/hooks';
import { post } from '../../api/http.ts';
import { AccountField } from '../../parts/account.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import type { FormValues } from '../../parts/form-values.ts';
import { LinkDialog } from './link-dialog.tsx';
import { ROLES, type UserLink } from './user.ts';

interface InviteToAccountProps {
  /** Empty: it is asked for. */
  readonly account: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Makes a user of an account, usually its first owner, and shows the link once. */
export function InviteToAccountDialog({ account, onClose, onDone }: InviteToAccountProps) {
  const [link, setLink] = useState<UserLink>();
  const invite = async (values: FormValues) => {
    setLink(
      await post<UserLink>('/v2/admin/users', {
        username: values.text('username'),
        account_id: values.text('account_id'),
        role: values.text('role'),
        ...(values.optional('name') && { name: values.text('name') }),
        ...(values.optional('email') && { email: values.text('email') }),
      }),
    );
    onDone();
  };
  if (link !== undefined) return <LinkDialog title="Link to set a password" link={link} onClose={onClose} />;
  return (
    <Dialog title="Invite a user" onClose={onClose}>
      <Form submit="Invite user" onSubmit={invite} onCancel={onClose}>
        <AccountField name="account_id" label="Account" initial={account} />
        <Field name="username" label="Sign-in name" type="email" hint="Usually an e-mail address." />
        <Field name="name" label="Name" optional />
        <Field name="email" label="Mail address" type="email" hint="If not the sign-in name." optional />
        <Select name="role" label="Role" options={ROLES} initial="owner" />
      </Form>
    </Dialog>
  );
}
