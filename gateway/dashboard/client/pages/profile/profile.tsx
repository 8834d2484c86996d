import { patch } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { loadSession, session } from '../../api/session.ts';
import { Facts } from '../../parts/facts.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Card, Loading, PageHead } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { NoticesCard } from './notices-card.tsx';
import { PasswordCard } from './password-card.tsx';
import type { Profile } from './profile-view.ts';
import { SecondFactorCard } from './second-factor-card.tsx';
import { SessionsCard } from './sessions-card.tsx';

/** What one decides about oneself: name, address, password, second factor, mails, sessions. */
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
      look="plain"
      onSubmit={async (values) => {
        await patch('/v2/profile', { name: values.text('name') });
        await loadSession();
        toast('Name saved.');
      }}
    >
      <Field
        name="name"
        label="Name"
        hint="How lists and the audit call you."
        initial={profile.name ?? ''}
        autoComplete="name"
        optional
      />
    </Form>
  );
}

function AddressForm({ profile, reload }: { readonly profile: Profile; readonly reload: () => void }) {
  return (
    <Form
      submit="Save address"
      look="plain"
      sendsAgain
      onSubmit={async (values) => {
        await patch('/v2/profile', { email: values.text('email') });
        reload();
        toast('Address saved.');
      }}
    >
      <Field
        name="email"
        label="Mail address"
        type="email"
        hint="Where mails go, also links to set a password."
        initial={profile.email ?? ''}
        autoComplete="email"
      />
    </Form>
  );
}
