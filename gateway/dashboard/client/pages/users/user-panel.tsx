import { useState } from 'preact/hooks';
import { patch, queryText, remove } from '../../api/http.ts';
import { session } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notice.tsx';
import { toast } from '../../parts/toast.tsx';
import { useKeysQuestion } from './keys-question.tsx';
import { ROLES, type User } from './user.ts';
import { UserActs, UserFacts } from './user-acts.tsx';

interface UserPanelProps {
  readonly user: User;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One user: what the role is, and what an owner may do about it. */
export function UserPanel({ user, onClose, onChange }: UserPanelProps) {
  const isSelf = user.user_id === session.value?.user.user_id;
  const path = `/v2/account/users/${user.user_id}`;
  const { attempt, question } = useKeysQuestion();
  return (
    <Dialog title={user.name ?? user.username} side="right" onClose={onClose}>
      <UserFacts user={user} />
      {isSelf && <Notice>This is you. Another owner changes your role; the rest is in your profile.</Notice>}
      {!isSelf && (
        <>
          <Form
            submit="Change role"
            look="plain"
            onSubmit={(values) =>
              attempt(async (keys) => {
                await patch(path, { role: values.text('role'), ...(keys && { keys }) });
                onChange();
                toast('Role changed. It holds from the next request on.');
              })
            }
          >
            <Select name="role" label="Role" options={ROLES} initial={user.role} />
          </Form>
          <UserActs
            user={user}
            path={path}
            setStatus={(status, keys) => patch(path, { status, ...(keys && { keys }) })}
            renews
            onChange={onChange}
          >
            <RemoveUser user={user} path={path} onClose={onClose} onChange={onChange} />
          </UserActs>
          {question}
        </>
      )}
    </Dialog>
  );
}

function RemoveUser({ user, path, onClose, onChange }: UserPanelProps & { readonly path: string }) {
  const [asked, setAsked] = useState(false);
  const called = user.name ?? user.username;
  const { attempt, question } = useKeysQuestion();
  const confirmed = () =>
    attempt(async (keys) => {
      await remove(`${path}${queryText({ keys })}`);
      onChange();
      toast(`${called} is removed.`);
      onClose();
    });
  return (
    <>
      <Button look="danger" onClick={() => setAsked(true)}>
        Remove user
      </Button>
      {question}
      {asked && (
        <Confirm
          title={`Remove ${called}?`}
          act="Remove user"
          typed={user.username}
          onConfirm={confirmed}
          onClose={() => setAsked(false)}
        >
          <p>All sessions end at once. It cannot be undone; the audit keeps what {called} did.</p>
        </Confirm>
      )}
    </>
  );
}
