import { useState } from 'preact/hooks';
import { ApiProblem } from '../../api/problem.ts';
import { newcomer } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import type { FormValues } from '../../parts/form-values.ts';

interface SignInFormProps {
  /** Who it is already: only password and second factor are asked. Absent: anybody signs in. */
  readonly username?: string;
  /** Sends what was entered. */
  readonly send: (shown: object) => Promise<void>;
  readonly submit?: string;
  readonly onCancel?: () => void;
}

interface Place {
  readonly account_id: string;
  readonly name: string;
}

/** Name and password; then, of users who have one, the second factor; and the account, where name and password are right in several. */
export function SignInForm({ username, send, submit = 'Sign in', onCancel }: SignInFormProps) {
  const [needsCode, setNeedsCode] = useState(false);
  const [recovers, setRecovers] = useState(false);
  const [places, setPlaces] = useState<readonly Place[]>();
  const tryAll = async (values: FormValues) => {
    const factor = recovers ? { recovery_code: values.text('recovery_code') } : { code: values.text('code') };
    try {
      await send({
        ...(username === undefined && { username: values.text('username') }),
        password: values.exact('password'),
        ...(places && { account: values.text('account') }),
        ...(needsCode && factor),
      });
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (error.code === 'second_factor_missing') setNeedsCode(true);
      else if (error.code === 'account_needed')
        setPlaces(error.body.accounts as readonly Place[]); // as gateway/endpoints/sign-in/session.ts answers
      else throw error;
    }
  };
  const isAsked = needsCode || places !== undefined;
  return (
    <Form submit={isAsked ? 'Confirm' : submit} onSubmit={tryAll} {...(onCancel && { onCancel })}>
      {/* They stay in the form, unseen, while more is asked: the gateway takes all in one request. */}
      <div class="form" hidden={isAsked}>
        {username === undefined && (
          <Field name="username" label="Sign-in name" initial={newcomer.value} autoComplete="username" />
        )}
        <Field name="password" label="Password" type="password" autoComplete="current-password" />
      </div>
      {places && (
        <Select
          name="account"
          label="Account"
          hint="Your name and password are right in several."
          options={places.map(({ account_id, name }) => [account_id, name])}
        />
      )}
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
