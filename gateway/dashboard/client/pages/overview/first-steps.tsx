import { may } from '../../api/session.ts';
import { Card } from '../../parts/page.tsx';

/** What to do with an account that has not sent anything. */
export function FirstSteps() {
  return (
    <Card title="Begin here" lead="Nothing was sent yet. Five steps; the first may take your service provider a day.">
      <ol class="steps">
        <li>
          <a href="/dashboard/senders">Request a sender</a>: what recipients see as the sender of an SMS. Your service
          provider approves it.
        </li>
        <li>
          Request a template, if your messages need one: <a href="/dashboard/templates">DLT</a> for SMS in India,{' '}
          <a href="/dashboard/templates/chatapp">chat-app</a> for writing to customers first.
        </li>
        <li>
          <a href="/dashboard/keys">Create an API key</a>
          {may('manage') ? ' for your program.' : ': a developer or an owner of your account does it.'}
        </li>
        <li>
          <a href="/dashboard/webhooks">Register a webhook</a>, so that your program learns what became of its messages.
        </li>
        <li>
          <a href="/dashboard/send">Send a message</a> from here and watch it arrive.
        </li>
      </ol>
    </Card>
  );
}
