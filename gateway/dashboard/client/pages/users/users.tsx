import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { signInRules } from '../../../../endpoints/users/users.ts';
import { create, patch, queryText, remove } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { usePages } from '../../api/pages.ts';
import { may, session } from '../../api/session.ts';
import { AddButton, Button } from '../../parts/button.tsx';
import { Confirm, Dialog, FormDialog, toast, toastProblem, useDialog } from '../../parts/dialog.tsx';
import { Checkbox, Field, Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Card, Empty, Loading, Notice, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import {
  LinkDialog,
  ROLES,
  type User,
  UserActs,
  UserFacts,
  type UserLink,
  useKeysQuestion,
  userColumns,
} from './user-acts.tsx';

/** Who may sign in to the account. For owners. */
export function UsersPage() {
  const users = usePages<User>('/v2/account/users');
  const [dialog, open] = useDialog();
  const [shown, setShown] = useState<string>();
  const user = users.rows?.find(({ user_id }) => user_id === shown);
  const ask = () =>
    open(
      <FormDialog
        title="Invite somebody"
        submit="Make invitation"
        onSubmit={async (values) => {
          const [name, email] = [values.optional('name'), values.optional('email')];
          const body = { username: values.text('username'), role: values.text('role'), name, email };
          const link = await create<UserLink>('/v2/account/users', body);
          users.reload();
          open(<LinkDialog title="Invitation" link={link} />);
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
      </FormDialog>,
    );
  const invite = may('owner') && <AddButton onClick={ask}>Invite somebody</AddButton>;
  return (
    <>
      <PageHead title="Users" lead="Who may sign in to this account, and what they may do." actions={invite} />
      <PagedTable
        list={users}
        caption="Users"
        rowKey={({ user_id }) => user_id}
        empty={<Empty icon="users">Nobody but you. Invite the people you work with.</Empty>}
        columns={userColumns(setShown)}
      />
      {may('owner') && <SignInPolicy />}
      {dialog}
      {user && <UserPanel user={user} onClose={() => setShown(undefined)} onChange={users.reload} />}
    </>
  );
}

type SignIn = AnswerOf<typeof signInRules>;

/** Whether the second factor is for everybody. `none` is said of the demo account only. */
function SignInPolicy() {
  const policy = useLoad<SignIn>('/v2/account/sign-in');
  const change = (all: boolean) => {
    patch<SignIn>('/v2/account/sign-in', { second_factor: all ? 'all' : 'owners' }).then(
      (now) => {
        policy.setData(now);
        toast(all ? 'Everybody needs a second factor from now on.' : 'Only owners need a second factor from now on.');
      },
      (error) => {
        toastProblem(error);
        policy.reload(); // The box shows what holds, not what was clicked.
      },
    );
  };
  return (
    <Card title="Signing in">
      <Loading of={policy}>
        {({ second_factor }) => (
          <Checkbox
            name="second_factor"
            label="Everybody needs a second factor"
            hint="Whoever has none sets one up before anything else. Owners need one in any case."
            checked={second_factor === 'all'}
            onChange={change}
          />
        )}
      </Loading>
    </Card>
  );
}

interface UserPanelProps {
  readonly user: User;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One user: what the role is, and what an owner may do about it. */
function UserPanel({ user, onClose, onChange }: UserPanelProps) {
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
  const [dialog, open] = useDialog();
  const called = user.name ?? user.username;
  const { attempt, question } = useKeysQuestion();
  const ask = () =>
    open(
      <Confirm
        title={`Remove ${called}?`}
        act="Remove user"
        typed={user.username}
        onConfirm={() =>
          attempt(async (keys) => {
            await remove(`${path}${queryText({ keys })}`);
            onChange();
            toast(`${called} is removed.`);
            onClose();
          })
        }
      >
        All sessions end at once. It cannot be undone; the audit keeps what {called} did.
      </Confirm>,
    );
  return (
    <>
      <Button look="danger" onClick={ask}>
        Remove user
      </Button>
      {question}
      {dialog}
    </>
  );
}
