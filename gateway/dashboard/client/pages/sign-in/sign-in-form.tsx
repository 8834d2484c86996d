import { useState } from 'preact/hooks';
import { ApiProblem } from '../../api/problem.ts';
import { newcomer, signIn } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import type { FormValues } from '../../parts/form-values.ts';

interface SignInFormProps {
  /** Whose session has ended. Absent: anybody signs in. */
  readonly username?: string;
  readonly onDone?: () => void;
}

/** Name and password; then, of users who have one, the second factor. */
export function SignInForm({ username, onDone }: SignInFormProps) {
  const [needsCode, setNeedsCode] = useState(false);
  const [recovers, setRecovers] = useState(false);
  const send = async (values: FormValues) => {
    const factor = recovers ? { recovery_code: values.text('recovery_code') } : { code: values.text('code') };
    try {
      await signIn({
        username: username ?? values.text('username'),
        password: values.exact('password'),
        ...(needsCode ? factor : {}),
      });
      onDone?.();
    } catch (error) {
      if (!(error instanceof ApiProblem) || error.code !== 'second_factor_missing') throw error;
      setNeedsCode(true);
    }
  };
  return (
    <Form submit={needsCode ? 'Confirm' : 'Sign in'} onSubmit={send}>
      {/* They stay in the form, unseen, while the code is asked: the gateway takes all in one request. */}
      <div class="form" hidden={needsCode}>
        {username === undefined && (
          <Field name="username" label="Sign-in name" initial={newcomer.value} autoComplete="username" />
        )}
        <Field name="password" label="Password" type="password" autoComplete="current-password" />
      </div>
      {needsCode && !recovers && <CodeField />}
      {needsCode && recovers && <Field name="recovery_code" label="Recovery code" hint="Each works once." mono />}
      {needsCode && (
        <Button look="quiet" onClick={() => setRecovers(!recovers)}>
          {recovers ? 'Use the authenticator app' : 'Use a recovery code'}
        </Button>
      )}
    </Form>
  );
}

export function CodeField() {
  return (
    <Field
      name="code"
      label="Code"
      hint="The six digits that your authenticator app shows now."
      inputMode="numeric"
      autoComplete="one-time-code"
      mono
    />
  );
}
