import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { post, remove } from '../../api/http.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Time } from '../../parts/time.tsx';
import { toast, toastProblem } from '../../parts/toast.tsx';
import { type KeyFate, useKeysQuestion } from './keys-question.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { STATUS_TONES, type User, type UserLink } from './user.ts';

/** What everybody who looks after users sees of one. */
export function UserFacts({ user }: { readonly user: User }) {
  return (
    <Facts
      facts={[
        ['Sign-in name', user.username],
        ['Status', <Badge tone={STATUS_TONES[user.status]}>{user.status}</Badge>],
        ['Second factor', user.second_factor ? 'on' : 'off'],
        ['Last sign-in', <Time at={user.last_sign_in_at} none="never" />],
      ]}
    />
  );
}

interface UserActsProps {
  readonly user: User;
  /** The user's path in the API: `/v2/account/users/usr_…`, or the operators' one. */
  readonly path: string;
  readonly setStatus: (to: 'active' | 'disabled', keys?: KeyFate) => Promise<unknown>;
  /** Whether a new link, and the removal of the second factor, may be asked for here. */
  readonly renews: boolean;
  readonly onChange: () => void;
  /** Further buttons. */
  readonly children?: ComponentChildren;
}

/** What helps a user who cannot get in, or should not. */
export function UserActs({ user, path, setStatus, renews, onChange, children }: UserActsProps) {
  const [asked, setAsked] = useState<'factor' | 'disable'>();
  const [link, setLink] = useState<UserLink>();
  const { attempt, question } = useKeysQuestion();
  const called = user.name ?? user.username;
  const act = async (doing: Promise<unknown>, said: string) => {
    await doing;
    onChange();
    toast(said);
  };
  const newLink = () => post<UserLink>(`${path}/link`).then(setLink, toastProblem);
  return (
    <div class="acts">
      {renews && (
        <Button onClick={newLink}>{user.status === 'invited' ? 'New invitation link' : 'New password link'}</Button>
      )}
      <Button onClick={() => act(remove(`${path}/sessions`), 'All sessions ended.').catch(toastProblem)}>
        End all sessions
      </Button>
      {renews && user.second_factor && <Button onClick={() => setAsked('factor')}>Reset second factor</Button>}
      {user.status === 'disabled' ? (
        <Button onClick={() => act(setStatus('active'), `${called} may sign in again.`).catch(toastProblem)}>
          Enable user
        </Button>
      ) : (
        <Button onClick={() => setAsked('disable')}>Disable user</Button>
      )}
      {children}
      {question}
      {link && <LinkDialog title={`Link for ${called}`} link={link} onClose={() => setLink(undefined)} />}
      {asked === 'factor' && (
        <Confirm
          title={`Reset the second factor of ${called}?`}
          act="Reset second factor"
          onConfirm={() => act(remove(`${path}/second-factor`), 'Second factor reset.')}
          onClose={() => setAsked(undefined)}
        >
          <p>For a lost authenticator app. Make sure that it is really {called} who asks. All sessions end.</p>
        </Confirm>
      )}
      {asked === 'disable' && (
        <Confirm
          title={`Disable ${called}?`}
          act="Disable user"
          onConfirm={() => attempt((keys) => act(setStatus('disabled', keys), `${called} is disabled.`))}
          onClose={() => setAsked(undefined)}
        >
          <p>All sessions end at once, and signing in is refused until the user is enabled again.</p>
        </Confirm>
      )}
    </div>
  );
}
