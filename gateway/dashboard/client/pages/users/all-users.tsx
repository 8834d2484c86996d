import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { FilterAccount } from '../../parts/account.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterBar } from '../../parts/filter.tsx';
import { PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { AnyUserPanel } from './any-user-panel.tsx';
import { InviteToAccountDialog } from './invite-to-account.tsx';
import { type AnyUser, STATUS_TONES } from './user.ts';

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
