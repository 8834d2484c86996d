import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { lookAtLink } from '../../../../endpoints/sign-in/link.ts';
import { post } from '../../api/http.ts';
import { type ApiProblem, asProblem } from '../../api/problem.ts';
import { newcomer, signIn } from '../../api/session.ts';
import { toast } from '../../parts/dialog.tsx';
import { PASSWORD_HINT, Password } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Gate, Problem, Skeleton } from '../../parts/page.tsx';
import { Time } from '../../parts/value.tsx';

type Link = AnswerOf<typeof lookAtLink>;

/** `/dashboard/link#token`: an invitation, or a new password. What is behind `#` is sent to no server by itself. */
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
          // Who has a second factor, or one name in several accounts, is asked for it by the sign-in form.
          newcomer.value = link.username;
          const isIn = await signIn({ username: link.username, password }).then(
            () => true,
            () => false,
          );
          toast(isIn ? 'Your password is set.' : 'Your password is set. Sign in with it.');
          route('/dashboard', true);
        }}
      >
        {/* Password managers keep the password under this name. */}
        <input type="text" aria-label="Sign-in name" autoComplete="username" value={link.username} readOnly hidden />
        <Password name="password" label="Password" kind="new-password" hint={PASSWORD_HINT} />
      </Form>
    </Gate>
  );
}

let taken = '';

/** Takes the token out of the address, so that it stays in no history. A link opened in the same tab later replaces it. */
function takeToken(): string {
  const token = location.hash.slice(1);
  if (token === '') return taken;
  history.replaceState(null, '', location.pathname);
  taken = token;
  return token;
}
