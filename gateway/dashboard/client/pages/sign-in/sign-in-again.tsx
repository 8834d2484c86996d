import { session } from '../../api/session.ts';
import { signInAsked } from '../../api/signed-in.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Over a page whose session has ended: what was typed there stays, and what was to be sent is sent after signing in. */
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
      <SignInForm username={who.user.username} onDone={() => resolve(true)} />
      <Button look="quiet" onClick={() => location.reload()}>
        {byOther ? 'Go on as the other user' : 'Sign in as somebody else'}
      </Button>
    </Dialog>
  );
}
