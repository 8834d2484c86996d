import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { ownNotices, ownSessions } from '../../../endpoints/sign-in/profile.ts';
import { patch, post, put, remove } from '../api/http.ts';
import { useLoad, usePages } from '../api/load.ts';
import { loadSession, session } from '../api/session.ts';
import { Checkboxes, Field, PASSWORD_HINT, Password } from '../parts/field.tsx';
import { Form, FormDialog, toast, toastProblem, useDialog } from '../parts/form.tsx';
import { PagedTable } from '../parts/list.tsx';
import { Card, Loading, Notice, PageHead } from '../parts/page.tsx';
import { Badge, Button, Facts, Time } from '../parts/value.tsx';
import { type Profile, SecondFactorCard } from './second-factor.tsx';

export function ProfilePage() {
  const profile = useLoad<Profile>('/v2/profile');
  return (
    <>
      <PageHead title="Your profile" lead="How you sign in, what you are told of, and where you are signed in." />
      <Loading of={profile}>
        {(data) => (
          <>
            <Card>
              <Facts
                facts={[
                  ['Sign-in name', data.username],
                  ['Role', data.role],
                  ['Account', session.value?.account?.name ?? 'none: you are an operator'],
                ]}
              />
              <div class="columns">
                <NameForm profile={data} />
                <AddressForm profile={data} reload={profile.reload} />
              </div>
            </Card>
            <div class="columns">
              <PasswordCard profile={data} reload={profile.reload} />
              <SecondFactorCard profile={data} reload={profile.reload} />
            </div>
            <NoticesCard address={data.email} />
          </>
        )}
      </Loading>
      <SessionsCard />
    </>
  );
}

function NameForm({ profile }: { readonly profile: Profile }) {
  return (
    <Form
      submit="Save name"
      of={profile}
      look="plain"
      onSubmit={async (values) => {
        await patch('/v2/profile', { name: values.text('name') });
        await loadSession();
        toast('Name saved.');
      }}
    >
      <Field name="name" label="Name" autoComplete="name" optional>
        How lists and the audit call you.
      </Field>
    </Form>
  );
}

function AddressForm({ profile, reload }: { readonly profile: Profile; readonly reload: () => void }) {
  return (
    <Form
      submit="Save address"
      of={profile}
      look="plain"
      sendsAgain
      onSubmit={async (values) => {
        await patch('/v2/profile', { email: values.text('email') });
        reload();
        toast('Address saved.');
      }}
    >
      <Field name="email" label="Mail address" type="email" autoComplete="email">
        Where mails go, also links to set a password.
      </Field>
    </Form>
  );
}

interface PasswordCardProps {
  readonly profile: Profile;
  readonly reload: () => void;
}

function PasswordCard({ profile, reload }: PasswordCardProps) {
  const [dialog, open] = useDialog();
  const ask = () =>
    open(
      <FormDialog
        title="Change your password"
        lead="All your other sessions end."
        submit="Change password"
        onSubmit={async (values) => {
          const current_password = values.exact('current_password');
          await post('/v2/profile/password', { current_password, password: values.exact('password') });
          reload();
          return 'Password changed. Your other sessions have ended.';
        }}
      >
        <Password name="current_password" label="Current password" kind="current-password" />
        <Password name="password" label="New password" kind="new-password">
          {PASSWORD_HINT}
        </Password>
      </FormDialog>,
    );
  return (
    <Card title="Password">
      <p class="soft">
        Changed <Time at={profile.password_changed_at} none="never" />.
      </p>
      <div class="acts">
        <Button onClick={ask}>Change password</Button>
      </div>
      {dialog}
    </Card>
  );
}

type Choices = AnswerOf<typeof ownNotices>;

/** Which mails the user gets. A new `address` is shown at once. */
function NoticesCard({ address }: { readonly address: string | null }) {
  const choices = useLoad<Choices>('/v2/profile/notices');
  return (
    <Card title="Mails" lead="What you are told of. Of the same thing, nothing is told twice within an hour.">
      <Loading of={choices}>
        {({ data }) => (
          <>
            {address === null && <Notice tone="warn">No mail is sent to you: you have given no address.</Notice>}
            <Form
              submit="Save choice"
              look="plain"
              sendsAgain
              onSubmit={async (values) => {
                choices.setData(await put<Choices>('/v2/profile/notices', { mail: values.all('mail') }));
                toast('Choice saved.');
              }}
            >
              <Checkboxes
                name="mail"
                legend={address === null ? 'Told by mail' : `Told by mail to ${address}`}
                options={data.map(({ event, when }) => ({ value: event, label: when }))}
                initial={data.filter(({ mail }) => mail).map(({ event }) => event)}
              />
            </Form>
          </>
        )}
      </Loading>
    </Card>
  );
}

type OwnSession = EntryOf<typeof ownSessions>;

function SessionsCard() {
  const sessions = usePages<OwnSession>('/v2/profile/sessions');
  const end = (path: string, said: string) => {
    remove(path).then(() => {
      sessions.reload();
      toast(said);
    }, toastProblem);
  };
  const others = sessions.rows?.some(({ current }) => !current) ?? false;
  return (
    <Card
      title="Sessions"
      lead="Browsers in which you are signed in."
      actions={
        others && (
          <Button onClick={() => end('/v2/profile/sessions', 'All other sessions have ended.')}>End all others</Button>
        )
      }
    >
      <PagedTable
        list={sessions}
        caption="Your sessions"
        rowKey={(row) => row.session_id}
        empty={null}
        columns={[
          {
            head: 'Browser',
            cell: ({ agent, current }) => (
              <>
                {browserName(agent ?? '')} {current && <Badge tone="good">This one</Badge>}
              </>
            ),
          },
          { head: 'Address', cell: ({ address }) => <code>{address}</code> },
          { head: 'Signed in', cell: (row) => <Time at={row.made_at} /> },
          { head: 'Last seen', cell: (row) => <Time at={row.seen_at} /> },
          { head: 'Ends at the latest', cell: (row) => <Time at={row.expires_at} /> },
          {
            head: 'Actions',
            kind: 'actions',
            cell: ({ session_id, current }) =>
              !current && (
                <Button look="quiet" onClick={() => end(`/v2/profile/sessions/${session_id}`, 'Session ended.')}>
                  End session
                </Button>
              ),
          },
        ]}
      />
    </Card>
  );
}

/** Marks in a User-Agent. Browsers also claim the names of earlier ones, so the first match counts. */
const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** "Firefox on Windows" */
function browserName(agent: string): string {
  const [, browser] = BROWSERS.find(([mark]) => agent.includes(mark)) ?? [];
  const [, system] = SYSTEMS.find(([mark]) => agent.includes(mark)) ?? [];
  if (browser === undefined) return agent.slice(0, 40) || 'unknown';
  return system === undefined ? browser : `${browser} on ${system}`;
}
