import { useState } from 'preact/hooks';
import { post } from '../../api/http.ts';
import { loadSession } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { Password } from '../../parts/password.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import type { Profile } from './profile-view.ts';
import { RecoveryCodes } from './recovery-codes.tsx';
import { SecondFactorSetup } from './second-factor-setup.tsx';

interface SecondFactorCardProps {
  readonly profile: Profile;
  readonly reload: () => void;
}

type Asked = 'setup' | 'codes' | 'remove';

export function SecondFactorCard({ profile, reload }: SecondFactorCardProps) {
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const done = async () => {
    close();
    reload();
    await loadSession();
  };
  const actions = profile.second_factor ? (
    <>
      <Button onClick={() => setAsked('codes')}>New recovery codes</Button>
      <Button onClick={() => setAsked('setup')}>Move to another app</Button>
      {!profile.second_factor_required && <Button onClick={() => setAsked('remove')}>Remove</Button>}
    </>
  ) : (
    <Button look="primary" onClick={() => setAsked('setup')}>
      Set up
    </Button>
  );
  return (
    <Card title="Second factor">
      <p class="soft">
        {profile.second_factor ? (
          <>
            <Badge tone="good">On</Badge> since <Time at={profile.second_factor.since} />. {profile.recovery_codes_left}{' '}
            recovery codes are left.
          </>
        ) : (
          'Signing in takes the password alone. An authenticator app makes a stolen password useless.'
        )}
      </p>
      <div class="acts">{actions}</div>
      {asked === 'setup' && <SetUp onClose={close} onDone={done} />}
      {asked === 'codes' && <NewCodes onClose={close} onDone={done} />}
      {asked === 'remove' && (
        <Dialog title="Remove your second factor?" onClose={close}>
          <p>Signing in will take the password alone, and your recovery codes are void.</p>
          <Form
            submit="Remove second factor"
            look="danger"
            onCancel={close}
            onSubmit={async (values) => {
              await post('/v2/profile/second-factor/remove', { current_password: values.exact('current_password') });
              await done();
              toast('Second factor removed.');
            }}
          >
            <Password name="current_password" label="Your password" kind="current-password" />
          </Form>
        </Dialog>
      )}
    </Card>
  );
}

interface StepsProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function SetUp({ onClose, onDone }: StepsProps) {
  const [hasCodes, setHasCodes] = useState(false);
  return (
    <Dialog title="Set up your second factor" onClose={onClose} locked={hasCodes}>
      <SecondFactorSetup asksPassword onCodes={() => setHasCodes(true)} onDone={onDone} />
    </Dialog>
  );
}

function NewCodes({ onClose, onDone }: StepsProps) {
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <Dialog title="New recovery codes" onClose={onClose} locked={codes !== undefined}>
      {codes === undefined ? (
        <Form
          submit="Make new codes"
          onCancel={onClose}
          onSubmit={async (values) => {
            const body = { current_password: values.exact('current_password') };
            setCodes(
              (await post<{ recovery_codes: readonly string[] }>('/v2/profile/recovery-codes', body)).recovery_codes,
            );
          }}
        >
          <p>The codes that you have now will be void.</p>
          <Password name="current_password" label="Your password" kind="current-password" />
        </Form>
      ) : (
        <RecoveryCodes codes={codes} onDone={onDone} />
      )}
    </Dialog>
  );
}
