import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { lookAtLink } from '../../../endpoints/sign-in/link.ts';
import { ApiProblem, asProblem, confirmAsked, post, signInAsked } from '../api/http.ts';
import { newcomer, session, signIn } from '../api/session.ts';
import { Field, PASSWORD_HINT, Password, Select } from '../parts/field.tsx';
import { Dialog, Form, type FormValues, toast } from '../parts/form.tsx';
import { Gate, Problem, Skeleton } from '../parts/page.tsx';
import { Button, Time } from '../parts/value.tsx';

/** Keeps the address, so that its page opens after signing in. */
export function SignInPage() {
  return (
    <Gate title="Sign in" lead="To the dashboard of your messaging account.">
      <SignInForm send={signIn} />
    </Gate>
  );
}

interface SignInFormProps {
  /** Set: only the password and the second factor of this user are asked. Absent: anybody signs in. */
  readonly username?: string;
  readonly send: (shown: object) => Promise<void>;
  readonly submit?: string;
  readonly onCancel?: () => void;
}

interface Place {
  readonly account_id: string;
  readonly name: string;
}

/** Name and password; then the second factor, if the user has one; then the account, if they match in several. */
function SignInForm({ username, send, submit = 'Sign in', onCancel }: SignInFormProps) {
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
      {/* Hidden but kept while more is asked: the gateway takes all in one request. */}
      <div class="form" hidden={isAsked}>
        {username === undefined && (
          <Field name="username" label="Sign-in name" initial={newcomer.value} autoComplete="username" />
        )}
        <Field name="password" label="Password" type="password" autoComplete="current-password" />
      </div>
      {places && (
        <Select name="account" label="Account" options={places.map(({ account_id, name }) => [account_id, name])}>
          Your name and password are right in several.
        </Select>
      )}
      {needsCode && !recovers && <CodeField />}
      {needsCode && recovers && (
        <Field name="recovery_code" label="Recovery code" mono>
          Each works once.
        </Field>
      )}
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
    <Field name="code" label="Code" inputMode="numeric" autoComplete="one-time-code" mono>
      The six digits that your authenticator app shows now.
    </Field>
  );
}

/** Over a page whose session has ended: what was typed stays, and the waiting request is sent after signing in. */
export function SignInAgain() {
  const asked = signInAsked.value;
  const who = session.value;
  if (asked === undefined || !who) return null;
  const { byOther, resolve } = asked;
  return (
    <Dialog
      title={byOther ? 'Somebody else has signed in' : 'Your session has ended'}
      locked
      onClose={() => resolve(false)}
    >
      {byOther && <p>They signed in in another tab of this browser, which ended your session. Nothing was done.</p>}
      <p>Sign in again as {who.user.username}. What you entered on this page is kept.</p>
      <SignInForm
        username={who.user.username}
        send={async (shown) => {
          const account = who.account?.account_id ?? 'operators';
          await signIn({ username: who.user.username, account, ...shown });
          resolve(true);
        }}
      />
      <Button look="quiet" onClick={() => location.reload()}>
        {byOther ? 'Go on as the other user' : 'Sign in as somebody else'}
      </Button>
    </Dialog>
  );
}

/** Over a page whose request needs the password again; the request is repeated after that, or dropped on Cancel. */
export function ConfirmAgain() {
  const asked = confirmAsked.value;
  const who = session.value;
  if (asked === undefined || !who) return null;
  return (
    <Dialog title="Enter your password again" onClose={() => asked.resolve(false)}>
      <p>
        Before this, we make sure that it is you, {who.user.username}. You are not asked again for the next ten minutes.
      </p>
      <SignInForm
        username={who.user.username}
        submit="Go on"
        send={async (shown) => {
          await post('/v2/session/confirm', shown);
          asked.resolve(true);
        }}
        onCancel={() => asked.resolve(false)}
      />
    </Dialog>
  );
}

type Link = AnswerOf<typeof lookAtLink>;

/** `/dashboard/link#token`: an invitation or a password reset. Browsers do not send the part behind `#` to a server. */
export function LinkPage() {
  const [token] = useState(takeToken);
  const [link, setLink] = useState<Link>();
  const [problem, setProblem] = useState<ApiProblem>();
  useEffect(() => {
    post<Link>('/v2/session/link', { token }).then(setLink, (error) => setProblem(asProblem(error)));
  }, [token]);
  if (problem !== undefined) {
    return (
      <Gate title="This link does not work">
        <Problem problem={problem} />
        <p class="lead">A link works once, and not for long. Ask for a new one where you got it.</p>
      </Gate>
    );
  }
  if (link === undefined) {
    return (
      <Gate title="One moment">
        <Skeleton />
      </Gate>
    );
  }
  return <ChoosePassword link={link} token={token} />;
}

function ChoosePassword({ link, token }: { readonly link: Link; readonly token: string }) {
  const { route } = useLocation();
  const where = link.account === null ? 'the operators’ side of Harkara' : link.account.name;
  return (
    <Gate
      title={link.purpose === 'invitation' ? 'Welcome' : 'A new password'}
      lead={
        <>
          {link.purpose === 'invitation' ? `You are invited to ${where}. ` : `For ${where}. `}
          You sign in as <strong>{link.username}</strong>. The link works once, until <Time at={link.expires_at} full />
          .
        </>
      }
    >
      <Form
        submit="Set password"
        onSubmit={async (values) => {
          const password = values.exact('password');
          await post('/v2/session/link/password', { token, password });
          // A second factor, or a choice between accounts, is left to the sign-in form.
          newcomer.value = link.username;
          const isIn = await signIn({ username: link.username, password }).then(
            () => true,
            () => false,
          );
          toast(isIn ? 'Your password is set.' : 'Your password is set. Sign in with it.');
          route('/dashboard', true);
        }}
      >
        {/* Password managers store the password under this name. */}
        <input type="text" aria-label="Sign-in name" autoComplete="username" value={link.username} readOnly hidden />
        <Password name="password" label="Password" kind="new-password">
          {PASSWORD_HINT}
        </Password>
      </Form>
    </Gate>
  );
}

let taken = '';

/** Removes the token from the address and the history. A link opened later in the same tab replaces it. */
function takeToken(): string {
  const token = location.hash.slice(1);
  if (token === '') return taken;
  history.replaceState(null, '', location.pathname);
  taken = token;
  return token;
}
