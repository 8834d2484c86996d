import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { PageHead } from '../../parts/page.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { CreateWebhookDialog } from './create-webhook.tsx';
import { Health } from './health.tsx';
import { CHANNELS, eventsInWords, type Webhook } from './webhook.ts';

/** Where the account's events are posted to. */
export function WebhooksPage() {
  const list = usePages<Webhook>('/v2/account/webhooks');
  const [creating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  const add = may('manage') && (
    <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
      Add webhook
    </Button>
  );
  const next = (
    <>
      {add}
      <a href="/docs">Events and their payloads</a>
    </>
  );
  return (
    <>
      <PageHead title="Webhooks" lead="Addresses of yours that events are posted to, as they happen." actions={add} />
      <PagedTable
        list={list}
        caption="Webhooks"
        rowKey={({ webhook_id }) => webhook_id}
        empty={
          <Empty icon="webhook" action={next}>
            No webhooks yet. Add one, and your server hears when messages arrive.
          </Empty>
        }
        columns={[
          { head: 'Address', cell: (row) => <a href={`/dashboard/webhooks/${row.webhook_id}`}>{row.url}</a> },
          { head: 'Channel', cell: ({ channel }) => CHANNELS.find(([name]) => name === channel)?.[1] },
          { head: 'Events', cell: eventsInWords },
          { head: 'Status', cell: (row) => <Health of={row} /> },
          { head: 'Made', cell: (row) => <Time at={row.created_at} /> },
        ]}
      />
      {creating && (
        <CreateWebhookDialog
          onClose={() => setCreating(false)}
          onCreated={(made) => {
            setCreating(false);
            list.reload();
            if (made.secret === undefined) toast('The address was there already. It keeps its secret and is enabled.');
            else setSecret(made.secret);
          }}
        />
      )}
      {secret && (
        <SecretDialog
          name="webhook secret"
          text={secret}
          hint="Your server checks the signatures with it."
          onDone={() => setSecret(undefined)}
        />
      )}
    </>
  );
}
