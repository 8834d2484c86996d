import { useLoad } from '../../api/load.ts';
import { mayAny } from '../../api/session.ts';
import { CodeBlock, CopyId } from '../../parts/copy.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { number } from '../../parts/number.ts';
import { Card, Loading, PageHead } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import type { PageProps } from '../../router/page.ts';
import { Deliveries } from './deliveries.tsx';
import { Health } from './health.tsx';
import { Replays } from './replays.tsx';
import { CHANNELS, filterInWords, type Webhook } from './webhook.ts';
import { WebhookActs } from './webhook-acts.tsx';

/** One webhook, and everything that was posted to it. */
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

/** In the largest unit without a rest. */
function pauseInWords(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600}\u00a0h`;
  return seconds % 60 === 0 ? `${seconds / 60}\u00a0min` : `${seconds}\u00a0s`;
}

/** What is wrong, and what to do. */
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

/** How a server tells our posts from others. */
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
