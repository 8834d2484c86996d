import { post } from '../../api/http.ts';
import { session, signIn } from '../../api/session.ts';
import { confirmAsked, signInAsked } from '../../api/signed-in.ts';
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

/** Over a page of which a request needs the password again: it is sent again after that. Cancelling leaves it undone. */
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
