import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { testWebhook } from '../../../endpoints/webhooks/test-event.ts';
import { create, patch, post, remove } from '../api/http.ts';
import { useLoad } from '../api/load.ts';
import { may, mayAny } from '../api/session.ts';
import {
  Confirm,
  Dialog,
  Form,
  FormDialog,
  SecretDialog,
  toast,
  toastProblem,
  useClosing,
  useDialog,
} from '../parts/form.tsx';
import { Card, Loading, Notice, PageHead, type PageProps } from '../parts/page.tsx';
import { Badge, Button, CodeBlock, CopyId, Facts, number, Time } from '../parts/value.tsx';
import { Deliveries, Replays } from './deliveries.tsx';
import {
  CHANNELS,
  type CreatedWebhook,
  EventBoxes,
  filterInWords,
  Health,
  PostingDialog,
  type Webhook,
} from './webhooks.tsx';

export function WebhookPage({ params }: PageProps) {
  const path = `/v2/account/webhooks/${params.webhook_id}`;
  const webhook = useLoad<Webhook>(path);
  const { data, reload } = webhook;
  return (
    <>
      <PageHead
        title={data === undefined ? 'Webhook' : new URL(data.url).host}
        back={{ href: '/dashboard/webhooks', label: 'Webhooks' }}
        actions={
          data && mayAny('manage', 'admin:support') && <WebhookActs webhook={data} path={path} onChange={reload} />
        }
      />
      <Loading of={webhook}>
        {(shown) => (
          <>
            <Trouble of={shown} />
            <Card>
              <Facts
                facts={[
                  ['Address', <code>{shown.url}</code>],
                  ['Channel', CHANNELS.find(([name]) => name === shown.channel)?.[1]],
                  ['Status', <Health of={shown} />],
                  ['Events', shown.events.join(', ')],
                  ['Only', filterInWords(shown) || 'all of them'],
                  [
                    'In a post',
                    shown.events_per_post === 1
                      ? 'one event'
                      : `up to ${shown.events_per_post} events${shown.gather_ms === 0 ? '' : `, gathered for ${number(shown.gather_ms)} ms`}`,
                  ],
                  ['Own headers', shown.headers.map(({ name }) => name).join(', ') || 'none'],
                  ['Tried again after', shown.retry_seconds.map(pauseInWords).join(', ')],
                  ['Id', <CopyId id={shown.webhook_id} />],
                  ['Made', <Time at={shown.created_at} full />],
                ]}
              />
            </Card>
            <Deliveries webhook={shown} path={path} />
            <Replays path={path} />
            <Verify />
          </>
        )}
      </Loading>
    </>
  );
}

/** In the largest unit that divides it. */
function pauseInWords(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600}\u00a0h`;
  return seconds % 60 === 0 ? `${seconds / 60}\u00a0min` : `${seconds}\u00a0s`;
}

function Trouble({ of }: { readonly of: Webhook }) {
  if (of.state === 'disabled') {
    return (
      <Notice tone="warn">
        {of.disabled_reason} Nothing is posted. Enable it, then replay what was lost meanwhile.
      </Notice>
    );
  }
  if (of.failing_since !== null) {
    return (
      <Notice tone="bad">
        Every post has failed since <Time at={of.failing_since} full />. {of.last_failure?.reason} After five days of
        only failures the webhook is disabled.
      </Notice>
    );
  }
  if (of.old_secret_until === null) return null;
  return (
    <Notice>
      Posts have the old signature too until <Time at={of.old_secret_until} full />. Give your server the new secret by
      then.
    </Notice>
  );
}

const NODE = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(WEBHOOK_SECRET); // whsec_…
// body: the bytes as they came, before any JSON parser. Throws when the post is not ours.
const event = webhook.verify(body, request.headers);`;

const PYTHON = `from standardwebhooks import Webhook

webhook = Webhook(WEBHOOK_SECRET)  # whsec_…
# body: the bytes as they came. Raises when the post is not ours.
event = webhook.verify(body, request.headers)`;

/** How a server checks signatures. */
function Verify() {
  return (
    <Card
      title="Check the signature"
      lead="Posts are signed as Standard Webhooks says. Answer 2xx within 15 seconds, then process the event. A webhook-id that you have seen is a repeat."
    >
      <CodeBlock text={NODE} label="Node.js" />
      <CodeBlock text={PYTHON} label="Python" />
    </Card>
  );
}

interface WebhookActsProps {
  readonly webhook: Webhook;
  readonly path: string;
  readonly onChange: () => void;
}

/** An operator who looks at the account may only test it. */
function WebhookActs({ webhook, path, onChange }: WebhookActsProps) {
  const [dialog, open] = useDialog();
  const { route } = useLocation();
  const setState = async (state: Webhook['state']) => {
    await patch(path, { state });
    onChange();
    toast(state === 'active' ? 'Webhook enabled.' : 'Webhook disabled.');
  };
  const changeEvents = () =>
    open(
      <FormDialog
        title="Change events"
        submit="Save events"
        onSubmit={async (values) => {
          await patch(path, { events: values.all('events') });
          onChange();
          return 'Events saved.';
        }}
      >
        <EventBoxes channel={webhook.channel} initial={webhook.events} />
      </FormDialog>,
    );
  const rotate = () =>
    open(
      <Confirm
        title="Rotate the secret?"
        act="Rotate secret"
        onConfirm={async () => {
          const { secret = '' } = await create<CreatedWebhook>(`${path}/rotate`, {});
          onChange();
          open(<SecretDialog name="webhook secret" text={secret} hint="The old one signs beside it for 24 hours." />);
        }}
      >
        You get a new secret. For 24 hours posts have both signatures, so your server can switch at any time.
      </Confirm>,
    );
  const disable = () =>
    open(
      <Confirm title="Disable the webhook?" act="Disable webhook" onConfirm={() => setState('disabled')}>
        Nothing is posted until you enable it. What is due now is discarded; you can replay it later.
      </Confirm>,
    );
  const drop = () =>
    open(
      <Confirm
        title="Remove the webhook?"
        act="Remove webhook"
        typed={new URL(webhook.url).host}
        onConfirm={async () => {
          await remove(path);
          route('/dashboard/webhooks');
          return 'Webhook removed.';
        }}
      >
        Nothing is posted to it any more. Its secret and its log are gone. It cannot be undone.
      </Confirm>,
    );
  return (
    <>
      <Button look="primary" onClick={() => open(<TestDialog path={path} />)}>
        Send test event
      </Button>
      {may('manage') && (
        <>
          <Button onClick={changeEvents}>Change events</Button>
          <Button onClick={() => open(<PostingDialog webhook={webhook} path={path} onChange={onChange} />)}>
            Change posting
          </Button>
          <Button onClick={rotate}>Rotate secret</Button>
          {webhook.state === 'active' ? (
            <Button onClick={disable}>Disable</Button>
          ) : (
            <Button onClick={() => setState('active').catch(toastProblem)}>Enable</Button>
          )}
          <Button look="danger" onClick={drop}>
            Remove
          </Button>
        </>
      )}
      {dialog}
    </>
  );
}

type Tested = AnswerOf<typeof testWebhook>;

function TestDialog({ path }: { readonly path: string }) {
  const close = useClosing();
  const [tested, setTested] = useState<Tested>();
  return (
    <Dialog title="Send a test event">
      <p>
        A signed event <code>webhook.test</code> is posted now. It is no delivery: nothing is repeated.
      </p>
      <Form
        submit={tested === undefined ? 'Send test' : 'Send again'}
        onCancel={close}
        sendsAgain
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
