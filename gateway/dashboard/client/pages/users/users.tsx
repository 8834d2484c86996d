import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { InviteDialog } from './invite.tsx';
import { SignInPolicy } from './sign-in-policy.tsx';
import { STATUS_TONES, type User } from './user.ts';
import { UserPanel } from './user-panel.tsx';

/** Who may sign in to the account. For owners. */
export function UsersPage() {
  const users = usePages<User>('/v2/account/users');
  const [inviting, setInviting] = useState(false);
  const [shown, setShown] = useState<string>();
  const user = users.rows?.find(({ user_id }) => user_id === shown);
  const invite = may('owner') && (
    <Button look="primary" icon="plus" onClick={() => setInviting(true)}>
      Invite somebody
    </Button>
  );
  return (
    <>
      <PageHead title="Users" lead="Who may sign in to this account, and what they may do." actions={invite} />
      <PagedTable
        list={users}
        caption="Users"
        rowKey={({ user_id }) => user_id}
        empty={<Empty icon="users">Nobody but you. Invite the people you work with.</Empty>}
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
          {
            head: 'Second factor',
            cell: ({ second_factor }) => (second_factor ? 'on' : <span class="soft">off</span>),
          },
          { head: 'Last sign-in', cell: (row) => <Time at={row.last_sign_in_at} none="never" /> },
        ]}
      />
      {may('owner') && <SignInPolicy />}
      {inviting && <InviteDialog onClose={() => setInviting(false)} onDone={users.reload} />}
      {user && <UserPanel user={user} onClose={() => setShown(undefined)} onChange={users.reload} />}
    </>
  );
}
