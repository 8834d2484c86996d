import { useState } from 'preact/hooks';
import { post } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { AccountField, FilterAccount } from '../../parts/account.tsx';
import { AddButton } from '../../parts/button.tsx';
import { Dialog, FormDialog, useDialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { FilterBar, useUrlFilter } from '../../parts/filter.tsx';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { type AnyUser, LinkDialog, ROLES, UserActs, UserFacts, type UserLink, userColumns } from './user-acts.tsx';

/** The operators, or the users of an account, for operators. */
export function AllUsersPage() {
  const filter = useUrlFilter('account_id');
  const list = usePages<AnyUser>('/v2/admin/users', filter.values);
  const [shown, setShown] = useState<string>();
  const [dialog, open] = useDialog();
  const user = list.rows?.find(({ user_id }) => user_id === shown);
  const account = filter.values.account_id;
  const invite = () =>
    open(
      <FormDialog
        title="Invite a user"
        submit="Invite user"
        onSubmit={async (values) => {
          const link = await post<UserLink>('/v2/admin/users', {
            username: values.text('username'),
            account_id: values.text('account_id'),
            role: values.text('role'),
            name: values.optional('name'),
            email: values.optional('email'),
          });
          list.reload();
          open(<LinkDialog title="Link to set a password" link={link} />);
        }}
      >
        <AccountField name="account_id" label="Account" initial={account} />
        <Field name="username" label="Sign-in name" type="email" hint="Usually an e-mail address." />
        <Field name="name" label="Name" optional />
        <Field name="email" label="Mail address" type="email" hint="If not the sign-in name." optional />
        <Select name="role" label="Role" options={ROLES} initial="owner" />
      </FormDialog>,
    );
  return (
    <>
      <PageHead
        title="Users of all accounts"
        lead={
          account === '' ? 'These are the operators. Choose an account to see its users.' : 'The users of one account.'
        }
        actions={may('admin:support', 'admin:money') && <AddButton onClick={invite}>Invite a user</AddButton>}
      />
      <FilterBar filter={filter}>
        <FilterAccount filter={filter} />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Users of all accounts"
        rowKey={({ user_id }) => user_id}
        empty={<Empty icon="users">The account has no users yet. Invite its first owner.</Empty>}
        columns={userColumns(setShown)}
      />
      {user && <AnyUserPanel user={user} onClose={() => setShown(undefined)} onChange={list.reload} />}
      {dialog}
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
