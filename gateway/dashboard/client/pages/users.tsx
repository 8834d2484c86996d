import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { anyUsers } from '../../../endpoints/operators/users.ts';
import type { userLink } from '../../../endpoints/users/change-user.ts';
import type { signInRules, users } from '../../../endpoints/users/users.ts';
import { ApiProblem, create, patch, post, queryText, remove } from '../api/http.ts';
import { useLoad, usePages } from '../api/load.ts';
import { may, session } from '../api/session.ts';
import { AccountField, FilterAccount } from '../parts/account.tsx';
import { Checkbox, Field, Select } from '../parts/field.tsx';
import { Confirm, Dialog, Form, FormDialog, toast, toastProblem, useClosing, useDialog } from '../parts/form.tsx';
import { FilterBar, ListPage, type ListPageProps, RowLink, useUrlFilter } from '../parts/list.tsx';
import { Card, Loading, Notice } from '../parts/page.tsx';
import { AddButton, Badge, Button, Copy, Facts, Time, type Tone } from '../parts/value.tsx';

export function UsersPage() {
  return (
    <UserList
      title="Users"
      lead="Who may sign in to this account, and what they may do."
      list={usePages<User>('/v2/account/users')}
      empty="Nobody but you. Invite the people you work with."
      inviting={
        may('owner') && {
          words: 'Invite somebody',
          submit: 'Make invitation',
          made: 'Invitation',
          role: 'viewer',
          send: (body) => create('/v2/account/users', body),
        }
      }
      panel={(props) => <UserPanel {...props} />}
      after={may('owner') && <SignInPolicy />}
    />
  );
}

export function AllUsersPage() {
  const filter = useUrlFilter('account_id');
  const account = filter.values.account_id;
  return (
    <UserList
      title="Users of all accounts"
      lead={
        account === '' ? 'These are the operators. Choose an account to see its users.' : 'The users of one account.'
      }
      list={usePages<User>('/v2/admin/users', filter.values)}
      empty="The account has no users yet. Invite its first owner."
      inviting={
        may('admin:support', 'admin:money') && {
          words: 'Invite a user',
          submit: 'Invite user',
          made: 'Link to set a password',
          role: 'owner',
          account,
          send: (body) => post('/v2/admin/users', body),
        }
      }
      panel={(props) => <AnyUserPanel {...props} />}
    >
      <FilterBar filter={filter}>
        <FilterAccount filter={filter} />
      </FilterBar>
    </UserList>
  );
}

interface UserListProps extends Pick<ListPageProps<User>, 'title' | 'lead' | 'list' | 'empty' | 'after' | 'children'> {
  readonly inviting: Inviting | false;
  /** Shows the opened user. */
  readonly panel: (props: UserPanelProps) => ComponentChildren;
}

interface Inviting {
  readonly words: string;
  readonly submit: string;
  /** Title of the dialog that shows the invitation. */
  readonly made: string;
  readonly role: string;
  /** For operators: the initial account. */
  readonly account?: string;
  readonly send: (body: object) => Promise<UserLink>;
}

function UserList({ inviting, panel, list, after, ...page }: UserListProps) {
  const [dialog, open] = useDialog();
  const [shown, setShown] = useState<string>();
  const user = list.rows?.find(({ user_id }) => user_id === shown);
  const invite = ({ words, submit, made, role, account, send }: Inviting) =>
    open(
      <FormDialog
        title={words}
        submit={submit}
        of={{ role }}
        onSubmit={async (values) => {
          const link = await send({
            username: values.text('username'),
            ...(account !== undefined && { account_id: values.text('account_id') }),
            role: values.text('role'),
            name: values.optional('name'),
            email: values.optional('email'),
          });
          list.reload();
          open(<LinkDialog title={made} link={link} />);
        }}
      >
        {account !== undefined && <AccountField name="account_id" label="Account" initial={account} />}
        <Field name="username" label="Sign-in name" type="email">
          Usually an e-mail address.
        </Field>
        <Field name="name" label="Name" optional />
        <Field name="email" label="Mail address" type="email" optional>
          Where mails to the user go, if not to the sign-in name.
        </Field>
        <Select name="role" label="Role" options={ROLES} />
      </FormDialog>,
    );
  return (
    <ListPage
      {...page}
      list={list}
      actions={inviting && <AddButton onClick={() => invite(inviting)}>{inviting.words}</AddButton>}
      rowKey={({ user_id }) => user_id}
      icon="users"
      columns={[
        {
          head: 'Name',
          cell: ({ user_id, name, username }) => (
            <RowLink onClick={() => setShown(user_id)}>
              {name ?? username}
              {name && <span class="soft"> {username}</span>}
            </RowLink>
          ),
        },
        { head: 'Role', cell: ({ role }) => role },
        { head: 'Status', cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
        { head: 'Second factor', cell: (row) => (row.second_factor ? 'on' : <span class="soft">off</span>) },
        { head: 'Last sign-in', cell: (row) => <Time at={row.last_sign_in_at} none="never" /> },
      ]}
      after={
        <>
          {after}
          {dialog}
          {user && panel({ user, onClose: () => setShown(undefined), onChange: list.reload })}
        </>
      }
    />
  );
}

type SignIn = AnswerOf<typeof signInRules>;

/** Who needs a second factor. `none` is for the demo account only. */
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
        policy.reload(); // Show the stored policy, not what was clicked.
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
            checked={second_factor === 'all'}
            onChange={change}
          >
            Whoever has none sets one up before anything else. Owners need one in any case.
          </Checkbox>
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

/** A user as owners see one. */
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
            of={user}
            look="plain"
            onSubmit={(values) =>
              attempt(async (keys) => {
                await patch(path, { role: values.text('role'), ...(keys && { keys }) });
                onChange();
                toast('Role changed. It holds from the next request on.');
              })
            }
          >
            <Select name="role" label="Role" options={ROLES} />
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

/** A user or an operator as operators see one. */
function AnyUserPanel({ user, onClose, onChange }: UserPanelProps) {
  const path = `/v2/admin/users/${user.user_id}`;
  return (
    <Dialog title={user.name ?? user.username} side="right" onClose={onClose}>
      <UserFacts user={user} />
      {mayAct(user) && (
        <UserActs
          user={user}
          path={path}
          setStatus={(status, keys) => post(`${path}/status`, { status, ...(keys && { keys }) })}
          renews={user.account_id != null && may('admin:support', 'admin:money')}
          onChange={onChange}
        />
      )}
    </Dialog>
  );
}

/** Operators are enabled and disabled only by operators with all these scopes. */
function mayAct({ account_id: account = null }: User): boolean {
  return account === null ? may('admin:support', 'admin:money', 'admin:routing') : may('admin:support');
}

type User = EntryOf<typeof users> & Partial<Pick<EntryOf<typeof anyUsers>, 'account_id'>>;
type UserLink = AnswerOf<typeof userLink>;

const STATUS_TONES: Readonly<Record<User['status'], Tone>> = {
  invited: 'info',
  active: 'good',
  disabled: 'bad',
};

const ROLES = [
  ['viewer', 'Viewer: sees everything, changes nothing'],
  ['sender', 'Sender: also sends messages'],
  ['developer', 'Developer: also keys, webhooks and templates'],
  ['owner', 'Owner: also users and the account'],
] as const;

function UserFacts({ user }: { readonly user: User }) {
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
  /** The user's API path: `/v2/account/users/usr_…`, or the one for operators. */
  readonly path: string;
  readonly setStatus: (to: 'active' | 'disabled', keys?: KeyFate) => Promise<unknown>;
  /** Whether a new link and the removal of the second factor are offered. */
  readonly renews: boolean;
  readonly onChange: () => void;
  readonly children?: ComponentChildren;
}

/** Buttons for a user who cannot get in, or should not. */
function UserActs({ user, path, setStatus, renews, onChange, children }: UserActsProps) {
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

type KeyFate = 'revoke' | 'keep';

/** A change of a user. The gateway may refuse it until it is told what happens to the user's keys. */
type Act = (keys?: KeyFate) => Promise<void>;

interface Asked {
  /** Names the keys in the question. */
  readonly words: string;
  readonly act: Act;
}

/** Runs an act. If the gateway asks about the user's keys, the dialog `question` asks and repeats the act. */
function useKeysQuestion() {
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
      <Select name="keys" label="The keys" options={FATES} />
    </FormDialog>
  );
}

interface LinkDialogProps {
  readonly title: string;
  readonly link: UserLink;
}

/** A one-time link to pass on. Whoever has it sets the password. */
function LinkDialog({ title, link }: LinkDialogProps) {
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
