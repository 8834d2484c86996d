import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { anyUsers } from '../../../../endpoints/operators/users.ts';
import type { userLink } from '../../../../endpoints/users/change-user.ts';
import type { users } from '../../../../endpoints/users/users.ts';
import { post, remove } from '../../api/http.ts';
import { ApiProblem } from '../../api/problem.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm, Dialog, FormDialog, toast, toastProblem, useClosing, useDialog } from '../../parts/dialog.tsx';
import { Select } from '../../parts/field.tsx';
import { type Column, RowLink } from '../../parts/table.tsx';
import { Badge, Copy, Facts, Time, type Tone } from '../../parts/value.tsx';

/** As `GET /v2/account/users` answers. */
export type User = EntryOf<typeof users> | AnyUser;

export type UserLink = AnswerOf<typeof userLink>;

const STATUS_TONES: Readonly<Record<User['status'], Tone>> = {
  invited: 'info',
  active: 'good',
  disabled: 'bad',
};

export const ROLES = [
  ['viewer', 'Viewer: sees everything, changes nothing'],
  ['sender', 'Sender: also sends messages'],
  ['developer', 'Developer: also keys, webhooks and templates'],
  ['owner', 'Owner: also users and the account'],
] as const;

/** As `GET /v2/admin/users` answers. */
export type AnyUser = EntryOf<typeof anyUsers>;

/** Users as rows of a table; `show` opens one. */
export function userColumns(show: (id: string) => void): readonly Column<User>[] {
  return [
    {
      head: 'Name',
      cell: ({ user_id, name, username }) => (
        <RowLink onClick={() => show(user_id)}>
          {name ?? username}
          {name && <span class="soft"> {username}</span>}
        </RowLink>
      ),
    },
    { head: 'Role', cell: ({ role }) => role },
    { head: 'Status', cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
    { head: 'Second factor', cell: (row) => (row.second_factor ? 'on' : <span class="soft">off</span>) },
    { head: 'Last sign-in', cell: (row) => <Time at={row.last_sign_in_at} none="never" /> },
  ];
}

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
  const [dialog, open] = useDialog();
  const { attempt, question } = useKeysQuestion();
  const called = user.name ?? user.username;
  const act = async (doing: Promise<unknown>, said: string) => {
    await doing;
    onChange();
    toast(said);
  };
  const newLink = () =>
    post<UserLink>(`${path}/link`).then(
      (link) => open(<LinkDialog title={`Link for ${called}`} link={link} />),
      toastProblem,
    );
  const resetFactor = () =>
    open(
      <Confirm
        title={`Reset the second factor of ${called}?`}
        act="Reset second factor"
        onConfirm={() => act(remove(`${path}/second-factor`), 'Second factor reset.')}
      >
        For a lost authenticator app. Make sure that it is really {called} who asks. All sessions end.
      </Confirm>,
    );
  const disable = () =>
    open(
      <Confirm
        title={`Disable ${called}?`}
        act="Disable user"
        onConfirm={() => attempt((keys) => act(setStatus('disabled', keys), `${called} is disabled.`))}
      >
        All sessions end at once, and signing in is refused until the user is enabled again.
      </Confirm>,
    );
  return (
    <div class="acts">
      {renews && (
        <Button onClick={newLink}>{user.status === 'invited' ? 'New invitation link' : 'New password link'}</Button>
      )}
      <Button onClick={() => act(remove(`${path}/sessions`), 'All sessions ended.').catch(toastProblem)}>
        End all sessions
      </Button>
      {renews && user.second_factor && <Button onClick={resetFactor}>Reset second factor</Button>}
      {user.status === 'disabled' ? (
        <Button onClick={() => act(setStatus('active'), `${called} may sign in again.`).catch(toastProblem)}>
          Enable user
        </Button>
      ) : (
        <Button onClick={disable}>Disable user</Button>
      )}
      {children}
      {question}
      {dialog}
    </div>
  );
}

/** What becomes of the keys that a user made. */
type KeyFate = 'revoke' | 'keep';

/** Does something to a user that the gateway may answer with a question about the user's keys. */
type Act = (keys?: KeyFate) => Promise<void>;

interface Asked {
  /** Names the keys. */
  readonly words: string;
  readonly act: Act;
}

/** Acts; when the gateway asks what becomes of the user's keys, the dialog `question` asks it, and it acts with the answer. */
export function useKeysQuestion() {
  const [asked, setAsked] = useState<Asked>();
  const attempt = (act: Act): Promise<void> =>
    act().catch((error: unknown) => {
      if (!(error instanceof ApiProblem) || error.code !== 'user_has_keys') throw error;
      setAsked({ words: error.message, act });
    });
  const close = () => setAsked(undefined);
  return { attempt, question: asked && <KeysQuestion of={asked} onClose={close} /> };
}

const FATES = [
  ['revoke', 'Revoke them: programs that use them are refused'],
  ['keep', 'Keep them: they go on working'],
] as const;

function KeysQuestion({ of, onClose }: { readonly of: Asked; readonly onClose: () => void }) {
  return (
    <FormDialog
      title="What becomes of the keys?"
      lead={of.words}
      submit="Go on"
      look="danger"
      onClose={onClose}
      onSubmit={(values) => of.act(values.text('keys') === 'keep' ? 'keep' : 'revoke')}
    >
      <Select name="keys" label="The keys" options={FATES} initial="revoke" />
    </FormDialog>
  );
}

interface LinkDialogProps {
  readonly title: string;
  readonly link: UserLink;
}

/** A one-time link to pass on. Whoever has it sets the password. */
export function LinkDialog({ title, link }: LinkDialogProps) {
  const close = useClosing();
  return (
    <Dialog title={title}>
      <p>
        {link.mailed_to === null
          ? 'Pass this link on, in a way that nobody else reads.'
          : `It is mailed to ${link.mailed_to}. Pass it on only if no mail comes.`}{' '}
        It works once, until <Time at={link.link_expires_at} full />. It is shown only now.
      </p>
      <div class="secret">
        <code>{link.link}</code>
        <Copy text={link.link} label="link" />
      </div>
      <div class="dialog-actions">
        <Button look="primary" onClick={close}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
