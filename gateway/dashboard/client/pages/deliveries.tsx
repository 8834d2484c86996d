import { useEffect } from 'preact/hooks';
import { create, post } from '../api/http.ts';
import { useLive } from '../api/live.ts';
import { useLoad, usePages } from '../api/load.ts';
import { mayAny } from '../api/session.ts';
import { Field } from '../parts/field.tsx';
import { Dialog, FormDialog, toast, toastProblem, useDialog } from '../parts/form.tsx';
import { FilterBar, FilterSelect, FilterText, PagedTable, RowLink, useUrlFilter } from '../parts/list.tsx';
import { Card, Empty, Loading } from '../parts/page.tsx';
import { Badge, Button, CodeBlock, CopyId, Facts, number, Progress, Time } from '../parts/value.tsx';
import {
  DELIVERY_STATES,
  type ListedDelivery,
  type Replay,
  useEvents,
  type Webhook,
  type WholeDelivery,
} from './webhooks.tsx';

export function Deliveries({ webhook, path }: { readonly webhook: Webhook; readonly path: string }) {
  const filter = useUrlFilter('event', 'state', 'message_id');
  const list = usePages<ListedDelivery>(`${path}/deliveries`, filter.values);
  const [dialog, open] = useDialog();
  const show = (id: string) =>
    open(<DeliveryPanel webhook={webhook} path={path} eventId={id} onChange={list.reload} />);
  const states = Object.entries(DELIVERY_STATES).map(([state, { words }]) => [state, words] as const);
  const events = useEvents(webhook.channel).map(({ event }) => [event, event] as const);
  return (
    <Card title="Delivery log" actions={<Button onClick={list.reload}>Refresh</Button>}>
      <FilterBar filter={filter}>
        <FilterSelect filter={filter} name="event" label="Event" options={events} />
        <FilterSelect filter={filter} name="state" label="Status" options={states} />
        <FilterText filter={filter} name="message_id" label="Message" placeholder="msg_…" />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Delivery log"
        rowKey={({ event_id }) => event_id}
        filter={filter}
        empty={<Empty icon="webhook">Nothing was posted yet. Send a message, or a test event.</Empty>}
        columns={[
          {
            head: 'Event',
            cell: ({ event, event_id, message_id }) => (
              <RowLink onClick={() => show(event_id)}>
                {event}
                {message_id !== null && <code class="soft">{message_id}</code>}
              </RowLink>
            ),
          },
          { head: 'Stored', cell: (row) => <Time at={row.created_at} /> },
          {
            head: 'Status',
            cell: ({ state }) => <Badge tone={DELIVERY_STATES[state].tone}>{DELIVERY_STATES[state].words}</Badge>,
          },
          { head: 'Answer', cell: ({ last_attempt }) => last_attempt?.result ?? '–' },
          {
            head: 'ms',
            kind: 'number',
            cell: (row) => (row.last_attempt ? number(row.last_attempt.duration_ms) : '–'),
          },
          { head: 'Tries', kind: 'number', cell: ({ tries }) => number(tries) },
          { head: 'Next try', cell: (row) => <Time at={row.next_try_at} /> },
        ]}
      />
      {dialog}
    </Card>
  );
}

interface DeliveryPanelProps {
  readonly webhook: Webhook;
  /** The webhook's API path. */
  readonly path: string;
  readonly eventId: string;
  readonly onChange: () => void;
}

/** One event: its body and the answer to each attempt. */
function DeliveryPanel({ webhook, path, eventId, onChange }: DeliveryPanelProps) {
  const own = `${path}/deliveries/${eventId}`;
  const delivery = useLoad<WholeDelivery>(own);
  const replay = async () => {
    await post(`${own}/replay`);
    delivery.reload();
    onChange();
    toast('The event is posted again.');
  };
  return (
    <Dialog title="Delivery" side="right">
      <Loading of={delivery}>
        {(data) => (
          <>
            <DeliveryFacts of={data} />
            {mayAny('manage', 'admin:support') && data.state !== 'due' && data.state !== 'waiting' && (
              <div class="acts">
                <Button onClick={() => replay().catch(toastProblem)}>Post again</Button>
              </div>
            )}
            <h3>Posted</h3>
            <CodeBlock text={data.body} label="posted body" />
            <h3>The same as curl</h3>
            <CodeBlock text={curlOf(webhook.url, data)} label="curl" />
            <h3>Attempts</h3>
            <Attempts of={data} />
          </>
        )}
      </Loading>
    </Dialog>
  );
}

function DeliveryFacts({ of }: { readonly of: WholeDelivery }) {
  const { words, tone } = DELIVERY_STATES[of.state];
  const message = of.message_id && <a href={`/dashboard/messages/${of.message_id}`}>{of.message_id}</a>;
  return (
    <Facts
      facts={[
        ['Event', of.event],
        ['Status', <Badge tone={tone}>{words}</Badge>],
        ['webhook-id', <CopyId id={of.event_id} />],
        ['Message', message ?? '–'],
        ['Stored', <Time at={of.created_at} full />],
        ['Next try', of.next_try_at && <Time at={of.next_try_at} />],
        ['Replayed', of.replayed_at && <Time at={of.replayed_at} full />],
      ]}
    />
  );
}

function Attempts({ of }: { readonly of: WholeDelivery }) {
  if (of.attempts.length === 0) return <p class="soft">None yet.</p>;
  return (
    <ol class="stack">
      {of.attempts.map((attempt, index) => (
        <li key={attempt.at}>
          <Time at={attempt.at} full="seconds" /> · <strong>{attempt.result}</strong> · {number(attempt.duration_ms)} ms
          · {attempt.reason}
          {attempt.answer && <CodeBlock text={attempt.answer} label={`answer ${index + 1}`} />}
        </li>
      ))}
    </ol>
  );
}

/** Without the signature: only the gateway and the customer's server have the secret. */
function curlOf(url: string, { event_id, body }: WholeDelivery): string {
  const quoted = body.replaceAll("'", "'\\''");
  return `curl -X POST '${url}' -H 'Content-Type: application/json' \\\n  -H 'webhook-id: ${event_id}' -d '${quoted}'`;
}

/** Events that are being posted again after a loss, with progress. */
export function Replays({ path }: { readonly path: string }) {
  const list = usePages<Replay>(`${path}/replays`);
  const live = useLive<{ readonly data: readonly Replay[] }>('replays');
  const [dialog, open] = useDialog();
  const ask = () =>
    open(
      <FormDialog
        title="Replay since a time"
        submit="Start replay"
        onSubmit={async (values) => {
          const since = new Date(values.text('since'));
          await create(`${path}/replays`, { since: Number.isNaN(+since) ? '' : since.toISOString() });
          list.reload();
          return 'The replay is running.';
        }}
      >
        <Field name="since" label="Events from this time on" type="datetime-local">
          In your time zone, as far back as deliveries are kept: 30 days unless your service provider says otherwise.
        </Field>
      </FormDialog>,
    );
  const known = live?.data.map(({ replay_id }) => replay_id).join() ?? '';
  // A replay that was started elsewhere is not in the list yet.
  useEffect(() => list.follow(), [known]);
  const now = (row: Replay) => live?.data.find(({ replay_id }) => replay_id === row.replay_id) ?? row;
  return (
    <Card
      title="Replays"
      lead="Posts again what was lost: events whose tries all failed, or that were due while the webhook was disabled."
      actions={mayAny('manage', 'admin:support') && <Button onClick={ask}>Replay since …</Button>}
    >
      <PagedTable
        list={list}
        caption="Replays"
        rowKey={({ replay_id }) => replay_id}
        empty={<Empty icon="webhook">Nothing was replayed yet.</Empty>}
        columns={[
          { head: 'Events since', cell: (row) => <Time at={row.since} full /> },
          { head: 'Started', cell: (row) => <Time at={row.started_at} /> },
          { head: 'Progress', cell: (row) => <Replayed of={now(row)} /> },
          { head: 'Posted again', kind: 'number', cell: (row) => number(now(row).replayed) },
        ]}
      />
      {dialog}
    </Card>
  );
}

function Replayed({ of: { state, progress } }: { readonly of: Replay }) {
  return state === 'running' ? <Progress part={progress} label="Progress of the replay" /> : state;
}
