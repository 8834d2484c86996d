import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { profile } from '../../../endpoints/sign-in/profile.ts';
import type { beginSecondFactor } from '../../../endpoints/sign-in/second-factor.ts';
import { ApiProblem, post } from '../api/http.ts';
import { loadSession, session } from '../api/session.ts';
import { Checkbox, Password } from '../parts/field.tsx';
import { Dialog, Form, FormDialog, useClosing, useDialog } from '../parts/form.tsx';
import { Card, Gate } from '../parts/page.tsx';
import { Badge, Button, CodeBlock, CopyId, Time } from '../parts/value.tsx';
import { CodeField } from './sign-in.tsx';

export type Profile = AnswerOf<typeof profile>;

interface SecondFactorCardProps {
  readonly profile: Profile;
  readonly reload: () => void;
}

export function SecondFactorCard({ profile, reload }: SecondFactorCardProps) {
  const [dialog, open] = useDialog();
  const done = async () => {
    reload();
    await loadSession();
  };
  const setUp = () => open(<SetUp onDone={done} />);
  const drop = () =>
    open(
      <FormDialog
        title="Remove your second factor?"
        lead="Signing in will take the password alone, and your recovery codes are void."
        submit="Remove second factor"
        look="danger"
        onSubmit={async (values) => {
          await post('/v2/profile/second-factor/remove', { current_password: values.exact('current_password') });
          await done();
          return 'Second factor removed.';
        }}
      >
        <Password name="current_password" label="Your password" kind="current-password" />
      </FormDialog>,
    );
  const actions = profile.second_factor ? (
    <>
      <Button onClick={() => open(<NewCodes onDone={done} />)}>New recovery codes</Button>
      <Button onClick={setUp}>Move to another app</Button>
      {!profile.second_factor_required && <Button onClick={drop}>Remove</Button>}
    </>
  ) : (
    <Button look="primary" onClick={setUp}>
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
      {dialog}
    </Card>
  );
}

interface StepsProps {
  readonly onDone: () => Promise<void>;
}

function useLastStep({ onDone }: StepsProps): () => Promise<void> {
  const close = useClosing();
  return () => {
    close();
    return onDone();
  };
}

function SetUp(props: StepsProps) {
  const done = useLastStep(props);
  const [hasCodes, setHasCodes] = useState(false);
  return (
    <Dialog title="Set up your second factor" locked={hasCodes}>
      <SecondFactorSetup asksPassword onCodes={() => setHasCodes(true)} onDone={done} />
    </Dialog>
  );
}

function NewCodes(props: StepsProps) {
  const close = useClosing();
  const done = useLastStep(props);
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <Dialog title="New recovery codes" locked={codes !== undefined}>
      {codes === undefined ? (
        <Form
          submit="Make new codes"
          onCancel={close}
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
        <RecoveryCodes codes={codes} onDone={done} />
      )}
    </Dialog>
  );
}

type Setup = AnswerOf<typeof beginSecondFactor>;

interface SetupProps {
  /** False right after signing in, when the gateway does not ask for the password again. */
  readonly asksPassword: boolean;
  /** Called when the recovery codes are shown. */
  readonly onCodes?: () => void;
  readonly onDone: () => void;
}

/** Three steps: the password, the app's first code, the recovery codes. */
function SecondFactorSetup({ asksPassword, onCodes, onDone }: SetupProps) {
  const [asks, setAsks] = useState(asksPassword);
  const [setup, setSetup] = useState<Setup>();
  const [codes, setCodes] = useState<readonly string[]>();
  if (codes !== undefined) return <RecoveryCodes codes={codes} onDone={onDone} />;
  if (setup === undefined) {
    return (
      <Form
        submit="Continue"
        onSubmit={async (values) => {
          const body = asks ? { current_password: values.exact('current_password') } : {};
          await post<Setup>('/v2/profile/second-factor', body).then(setSetup, (error) => {
            // The gateway asks for the password again some minutes after a sign-in.
            if (error instanceof ApiProblem && error.code === 'password_needed') setAsks(true);
            throw error;
          });
        }}
      >
        <p>
          You need an authenticator app, such as Aegis, 2FAS, Google Authenticator or a password manager. From then on,
          signing in asks for the code that it shows.
        </p>
        {asks && <Password name="current_password" label="Your password" kind="current-password" />}
      </Form>
    );
  }
  return (
    <Form
      submit="Confirm"
      onSubmit={async (values) => {
        const body = { setup: setup.setup, code: values.text('code') };
        const { recovery_codes } = await post<{ recovery_codes: readonly string[] }>(
          '/v2/profile/second-factor/confirm',
          body,
        );
        setCodes(recovery_codes);
        onCodes?.();
      }}
    >
      <p>Scan this with the app, or type the key into it.</p>
      <QrCode svg={setup.qr_svg} />
      <p class="small">
        Key <CopyId id={setup.secret} />
      </p>
      <CodeField />
    </Form>
  );
}

/** Copies only the outlines of the gateway's SVG, so no foreign markup gets into the page. */
function QrCode({ svg }: { readonly svg: string }) {
  const drawn = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
  const paths = [...drawn.querySelectorAll('path')];
  return (
    <svg
      class="qr-code"
      viewBox={drawn.getAttribute('viewBox') ?? '0 0 1 1'}
      role="img"
      aria-label="QR code of the key below"
    >
      {paths.map((path) => {
        const outline = path.getAttribute('d') ?? '';
        return <path key={outline} d={outline} class={path.hasAttribute('stroke') ? 'dark' : 'light'} />;
      })}
    </svg>
  );
}

/** Owners and operators must set up a second factor first; other users if their account requires it. */
export function SecondFactorGate() {
  const role = session.value?.user.role ?? '';
  return (
    <Gate title="Set up your second factor" lead={`Your role, ${role}, needs one before anything else.`}>
      <SecondFactorSetup asksPassword={false} onDone={loadSession} />
    </Gate>
  );
}

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}

/** Recovery codes for a lost phone, shown this once. */
function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const [stored, setStored] = useState(false);
  return (
    <div class="form">
      <p>
        Without your app, each of these recovery codes lets you in once. Store them where you find them without your
        phone. They are shown only now.
      </p>
      <CodeBlock text={codes.join('\n')} label="recovery codes" />
      <Checkbox name="stored" label="I have stored them" checked={stored} onChange={setStored} />
      <div class="form-actions">
        <Button look="primary" disabled={!stored} onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}
