import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { testWebhook } from '../../../../endpoints/webhooks/webhooks.ts';
import { create, patch, post, remove } from '../../api/http.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Form } from '../../parts/form.tsx';
import { number } from '../../parts/number.ts';
import { SecretDialog } from '../../parts/secret.tsx';
import { toast, toastProblem } from '../../parts/toast.tsx';
import { EventBoxes } from './event-boxes.tsx';
import { PostingDialog } from './posting-dialog.tsx';
import type { CreatedWebhook, Webhook } from './webhook.ts';

interface WebhookActsProps {
  readonly webhook: Webhook;
  readonly path: string;
  readonly onChange: () => void;
}

type Asked = 'test' | 'events' | 'posting' | 'rotate' | 'disable' | 'remove';

/** What can be done with one webhook. An operator who looks at the account may test it. */
export function WebhookActs({ webhook, path, onChange }: WebhookActsProps) {
  const [asked, setAsked] = useState<Asked>();
  const [secret, setSecret] = useState<string>();
  const { route } = useLocation();
  const close = () => setAsked(undefined);
  const setState = async (state: Webhook['state']) => {
    await patch(path, { state });
    onChange();
    toast(state === 'active' ? 'Webhook enabled.' : 'Webhook disabled.');
  };
  return (
    <>
      <Button look="primary" onClick={() => setAsked('test')}>
        Send test event
      </Button>
      {may('manage') && <Changes state={webhook.state} ask={setAsked} enable={() => setState('active')} />}
      {asked === 'test' && <TestDialog path={path} onClose={close} />}
      {asked === 'events' && <EventsDialog webhook={webhook} path={path} onClose={close} onChange={onChange} />}
      {asked === 'posting' && <PostingDialog webhook={webhook} path={path} onClose={close} onChange={onChange} />}
      {asked === 'rotate' && (
        <Confirm
          title="Rotate the secret?"
          act="Rotate secret"
          onConfirm={async () => {
            const rotated = await create<CreatedWebhook>(`${path}/rotate`, {});
            setSecret(rotated.secret);
            onChange();
          }}
          onClose={close}
        >
          <p>You get a new secret. For 24 hours posts have both signatures, so your server can switch at any time.</p>
        </Confirm>
      )}
      {asked === 'disable' && (
        <Confirm
          title="Disable the webhook?"
          act="Disable webhook"
          onConfirm={() => setState('disabled')}
          onClose={close}
        >
          <p>Nothing is posted until you enable it. What is due now is discarded; you can replay it later.</p>
        </Confirm>
      )}
      {asked === 'remove' && (
        <Confirm
          title="Remove the webhook?"
          act="Remove webhook"
          typed={new URL(webhook.url).host}
          onConfirm={async () => {
            await remove(path);
            toast('Webhook removed.');
            route('/dashboard/webhooks');
          }}
          onClose={close}
        >
          <p>Nothing is posted to it any more. Its secret and its log are gone. It cannot be undone.</p>
        </Confirm>
      )}
      {secret && (
        <SecretDialog
          name="webhook secret"
          text={secret}
          hint="The old one signs beside it for 24 hours."
          onDone={() => setSecret(undefined)}
        />
      )}
    </>
  );
}

interface ChangesProps {
  readonly state: Webhook['state'];
  readonly ask: (what: Asked) => void;
  readonly enable: () => Promise<void>;
}

function Changes({ state, ask, enable }: ChangesProps) {
  return (
    <>
      <Button onClick={() => ask('events')}>Change events</Button>
      <Button onClick={() => ask('posting')}>Change posting</Button>
      <Button onClick={() => ask('rotate')}>Rotate secret</Button>
      {state === 'active' ? (
        <Button onClick={() => ask('disable')}>Disable</Button>
      ) : (
        <Button onClick={() => enable().catch(toastProblem)}>Enable</Button>
      )}
      <Button look="danger" onClick={() => ask('remove')}>
        Remove
      </Button>
    </>
  );
}

function EventsDialog({ webhook, path, onClose, onChange }: WebhookActsProps & { readonly onClose: () => void }) {
  return (
    <Dialog title="Change events" onClose={onClose}>
      <Form
        submit="Save events"
        onCancel={onClose}
        onSubmit={async (values) => {
          await patch(path, { events: values.all('events') });
          onChange();
          onClose();
          toast('Events saved.');
        }}
      >
        <EventBoxes channel={webhook.channel} initial={webhook.events} />
      </Form>
    </Dialog>
  );
}

type Tested = AnswerOf<typeof testWebhook>;

/** Posts a test event, and shows what the server answered. */
function TestDialog({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const [tested, setTested] = useState<Tested>();
  return (
    <Dialog title="Send a test event" onClose={onClose}>
      <p>
        A signed event <code>webhook.test</code> is posted now. It is no delivery: nothing is repeated.
      </p>
      <Form
        submit={tested === undefined ? 'Send test' : 'Send again'}
        onCancel={onClose}
        onSubmit={async () => setTested(await post<Tested>(`${path}/test`))}
      />
      {tested && (
        <div role="status" class="stack">
          <Facts
            facts={[
              ['Result', <Badge tone={tested.acknowledged ? 'good' : 'bad'}>{tested.result}</Badge>],
              ['Meaning', tested.reason],
              ['Took', `${number(tested.duration_ms)} ms`],
            ]}
          />
          <h3>Posted</h3>
          <CodeBlock text={tested.body} label="posted body" />
          <h3>Answered</h3>
          {tested.answer ? <CodeBlock text={tested.answer} label="answer" /> : <p class="soft">Nothing.</p>}
        </div>
      )}
    </Dialog>
  );
}
