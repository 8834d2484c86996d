import { useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { ROLES, type UserLink } from './user.ts';

interface InviteDialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The link is mailed where that can be done, and shown in any case. */
export function InviteDialog({ onClose, onDone }: InviteDialogProps) {
  const [link, setLink] = useState<UserLink>();
  if (link !== undefined) return <LinkDialog title="Invitation" link={link} onClose={onClose} />;
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <Form
        submit="Make invitation"
        onCancel={onClose}
        onSubmit={async (values) => {
          const [name, email] = [values.optional('name'), values.optional('email')];
          const more = { ...(name && { name }), ...(email && { email }) };
          const body = { username: values.text('username'), role: values.text('role'), ...more };
          setLink(await create<UserLink>('/v2/account/users', body));
          onDone();
        }}
      >
        <Field name="username" label="Sign-in name" type="email" hint="Usually an e-mail address." />
        <Field name="name" label="Name" optional />
        <Field
          name="email"
          label="Mail address"
          type="email"
          hint="Where mails to the user go, if not to the sign-in name."
          optional
        />
        <Select name="role" label="Role" options={ROLES} initial="viewer" />
      </Form>
    </Dialog>
  );
}
