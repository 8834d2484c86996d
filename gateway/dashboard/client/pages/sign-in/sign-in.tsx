import { signIn } from '../../api/session.ts';
import { Gate } from '../../parts/gate.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** What somebody sees who has not signed in. The address stays: after signing in, its page opens. */
export function SignInPage() {
  return (
    <Gate title="Sign in" lead="To the dashboard of your messaging account.">
      <SignInForm send={signIn} />
    </Gate>
  );
}
