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

/** No mail is sent: whoever invites passes the link on. */
export function InviteDialog({ onClose, onDone }: InviteDialogProps) {
  const [link, setLink] = useState<UserLink>();
  if (link !== undefined) return <LinkDialog title="Invitation" link={link} onClose={onClose} />;
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <Form
        submit="Make invitation"
        onCancel={onClose}
        onSubmit={async (values) => {
          const name = values.optional('name');
          const body = { username: values.text('username'), role: values.text('role'), ...(name && { name }) };
          setLink(await create<UserLink>('/v2/account/users', body));
          onDone();
        }}
      >
        <Field
          name="username"
          label="Sign-in name"
          type="email"
          hint="Usually an e-mail address. No mail is sent to it."
        />
        <Field name="name" label="Name" optional />
        <Select name="role" label="Role" options={ROLES} initial="viewer" />
      </Form>
    </Dialog>
  );
}
