import { useState } from 'preact/hooks';
import { post } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { AccountField, FilterAccount } from '../../parts/account.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { FilterBar, useUrlFilter } from '../../parts/filter.tsx';
import { Form, type FormValues } from '../../parts/form.tsx';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Badge, Time } from '../../parts/value.tsx';
import { type AnyUser, LinkDialog, ROLES, STATUS_TONES, UserActs, UserFacts, type UserLink } from './user-acts.tsx';

/** The operators, or the users of an account, for operators. */
export function AllUsersPage() {
  const filter = useUrlFilter('account_id');
  const list = usePages<AnyUser>('/v2/admin/users', filter.values);
  const [shown, setShown] = useState<string>();
  const [inviting, setInviting] = useState(false);
  const user = list.rows?.find(({ user_id }) => user_id === shown);
  const account = filter.values.account_id;
  return (
    <>
      <PageHead
        title="Users of all accounts"
        lead={
          account === '' ? 'These are the operators. Choose an account to see its users.' : 'The users of one account.'
        }
        actions={
          may('admin:support', 'admin:money') && (
            <Button look="primary" icon="plus" onClick={() => setInviting(true)}>
              Invite a user
            </Button>
          )
        }
      />
      <FilterBar filter={filter}>
        <FilterAccount filter={filter} />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Users of all accounts"
        rowKey={({ user_id }) => user_id}
        empty={<Empty icon="users">The account has no users yet. Invite its first owner.</Empty>}
        columns={[
          {
            head: 'Name',
            cell: ({ user_id, name, username }) => (
              <button type="button" class="row-link" onClick={() => setShown(user_id)}>
                {name ?? username}
                {name && <span class="soft"> {username}</span>}
              </button>
            ),
          },
          { head: 'Role', cell: ({ role }) => role },
          { head: 'Status', cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
          { head: 'Second factor', cell: (row) => (row.second_factor ? 'on' : <span class="soft">off</span>) },
          { head: 'Last sign-in', cell: (row) => <Time at={row.last_sign_in_at} none="never" /> },
        ]}
      />
      {user && <AnyUserPanel user={user} onClose={() => setShown(undefined)} onChange={list.reload} />}
      {inviting && <InviteToAccountDialog account={account} onClose={() => setInviting(false)} onDone={list.reload} />}
    </>
  );
}

interface AnyUserPanelProps {
  readonly user: AnyUser;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One user of any account, or an operator, as operators see them. */
function AnyUserPanel({ user, onClose, onChange }: AnyUserPanelProps) {
  const path = `/v2/admin/users/${user.user_id}`;
  return (
    <Dialog title={user.name ?? user.username} side="right" onClose={onClose}>
      <UserFacts user={user} />
      {mayAct(user) && (
        <UserActs
          user={user}
          path={path}
          setStatus={(status, keys) => post(`${path}/status`, { status, ...(keys && { keys }) })}
          renews={user.account_id !== null && may('admin:support', 'admin:money')}
          onChange={onChange}
        />
      )}
    </Dialog>
  );
}

/** An operator is let in or out by who may do all that operators do. */
function mayAct({ account_id: account }: AnyUser): boolean {
  return account === null ? may('admin:support', 'admin:money', 'admin:routing') : may('admin:support');
}

interface InviteToAccountProps {
  /** Empty: it is asked for. */
  readonly account: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Makes a user of an account, usually its first owner, and shows the link once. */
function InviteToAccountDialog({ account, onClose, onDone }: InviteToAccountProps) {
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
