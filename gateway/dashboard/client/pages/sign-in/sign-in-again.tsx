import { session } from '../../api/session.ts';
import { signInAsked } from '../../api/signed-in.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Over a page whose session has ended: what was typed there stays, and what was to be sent is sent after signing in. */
export function SignInAgain() {
  const answer = signInAsked.value;
  const who = session.value;
  if (answer === undefined || !who) return null;
  return (
    <Dialog title="Your session has ended" locked onClose={() => answer(false)}>
      <p>Sign in again as {who.user.username}. What you entered on this page is kept.</p>
      <SignInForm username={who.user.username} onDone={() => answer(true)} />
      <Button look="quiet" onClick={() => location.reload()}>
        Sign in as somebody else
      </Button>
    </Dialog>
  );
}
