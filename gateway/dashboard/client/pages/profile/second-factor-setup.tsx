import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { beginSecondFactor } from '../../../../endpoints/sign-in/second-factor.ts';
import { post } from '../../api/http.ts';
import { ApiProblem } from '../../api/problem.ts';
import { CopyId } from '../../parts/copy.tsx';
import { Form } from '../../parts/form.tsx';
import { Password } from '../../parts/password.tsx';
import { CodeField } from '../sign-in/sign-in-form.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

type Setup = AnswerOf<typeof beginSecondFactor>;

interface SetupProps {
  /** Right after signing in the gateway does not ask for the password again. */
  readonly asksPassword: boolean;
  /** The recovery codes are shown. */
  readonly onCodes?: () => void;
  readonly onDone: () => void;
}

/** Three steps: the password, the app's first code, the recovery codes. */
export function SecondFactorSetup({ asksPassword, onCodes, onDone }: SetupProps) {
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
            // The sign-in was some minutes ago.
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

/** The gateway draws the code as SVG. Only its outlines are taken over, so no markup gets into the page. */
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
