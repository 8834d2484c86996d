import { post } from '../../api/http.ts';
import { may } from '../../api/session.ts';
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
