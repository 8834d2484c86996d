import { post } from '../../api/http.ts';
import { Dialog } from '../../parts/dialog.tsx';
import type { AnyUser } from './user.ts';
import { UserActs, UserFacts } from './user-acts.tsx';

interface AnyUserPanelProps {
  readonly user: AnyUser;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One user of any account, or an operator, as operators see them. */
export function AnyUserPanel({ user, onClose, onChange }: AnyUserPanelProps) {
  const path = `/v2/admin/users/${user.user_id}`;
  return (
    <Dialog title={user.name ?? user.username} side="right" onClose={onClose}>
      <UserFacts user={user} />
      <UserActs
        user={user}
        path={path}
        setStatus={(status) => post(`${path}/status`, { status })}
        renews={user.account_id !== null}
        onChange={onChange}
      />
    </Dialog>
  );
}
