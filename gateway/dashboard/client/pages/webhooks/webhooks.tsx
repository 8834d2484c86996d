import { useState } from 'preact/hooks';
import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { deliveries, showDelivery } from '../../../../endpoints/webhooks/deliveries.ts';
import type { replays } from '../../../../endpoints/webhooks/replays.ts';
import type { createWebhook, showWebhook } from '../../../../endpoints/webhooks/webhooks.ts';
import { create } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { AddButton } from '../../parts/button.tsx';
import { FormDialog, SecretDialog, toast, useDialog } from '../../parts/dialog.tsx';
import { Checkboxes, Field, Select } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form.tsx';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Badge, Time, type Tone } from '../../parts/value.tsx';

type Channel = 'sms' | 'chatapp' | 'account';

/** An event that webhooks may have, as `GET /v2/account/webhook-events` shows it. */
interface OfferedEvent {
  readonly event: string;
  readonly channels: readonly Channel[];
  readonly when: string;
}

/** As `GET /v2/account/webhooks` shows it. */
export type Webhook = AnswerOf<typeof showWebhook>;

/** An answer that has the secret, this once. An address that was there already has none. */
export type CreatedWebhook = AnswerOf<typeof createWebhook>;

interface Delivery {
  readonly event_id: string;
  readonly event: string;
  readonly message_id: string | null;
  readonly state: 'due' | 'waiting' | 'done' | 'exhausted' | 'discarded';
  readonly created_at: string;
  readonly next_try_at: string | null;
  readonly replayed_at: string | null;
  readonly tries: number;
}

export type ListedDelivery = EntryOf<typeof deliveries>;

export type WholeDelivery = AnswerOf<typeof showDelivery>;

export type Replay = EntryOf<typeof replays>;

export const CHANNELS: readonly (readonly [Channel, string])[] = [
  ['sms', 'SMS'],
  ['chatapp', 'Chat-app'],
  ['account', 'Account'],
];

/** What events may be picked by. */
export const FILTERS: readonly (readonly [keyof Webhook['filter'], string, string])[] = [
  ['sender', 'Only these senders', 'With commas. Of received messages: your number.'],
  ['route', 'Only this route', 'transactional or promotional'],
  ['reference_prefix', 'Only references that begin with', 'With commas.'],
  ['number_prefix', 'Only numbers that begin with', 'With commas, country code first.'],
  ['error_code', 'Only these error codes', 'With commas.'],
];

export const DELIVERY_STATES: Readonly<Record<Delivery['state'], { readonly words: string; readonly tone: Tone }>> = {
  due: { words: 'Next', tone: 'info' },
  waiting: { words: 'Retrying', tone: 'warn' },
  done: { words: 'Delivered', tone: 'good' },
  exhausted: { words: 'Failed', tone: 'bad' },
  discarded: { words: 'Discarded', tone: 'plain' },
};

const NAMED_MAX = 2;

/** What is picked, as `sender HARKRA, route promotional`. */
export function filterInWords({ filter }: Webhook): string {
  return FILTERS.flatMap(([name]) => {
    const values = filter[name];
    return values === undefined ? [] : [`${name.replace('_', ' ')} ${values.join(' or ')}`];
  }).join(', ');
}

/** Their names, or how many they are. */
function eventsInWords({ events }: Webhook): string {
  return events.length > NAMED_MAX ? `${events.length} events` : events.join(', ');
}

/** Where the account's events are posted to. */
export function WebhooksPage() {
  const list = usePages<Webhook>('/v2/account/webhooks');
  const [dialog, open] = useDialog();
  const show = ({ secret }: CreatedWebhook) => {
    list.reload();
    if (secret === undefined) toast('The address was there already. It keeps its secret and is enabled.');
    else open(<SecretDialog name="webhook secret" text={secret} hint="Your server checks the signatures with it." />);
  };
  const add = may('manage') && (
    <AddButton onClick={() => open(<CreateWebhookDialog onCreated={show} />)}>Add webhook</AddButton>
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
      {dialog}
    </>
  );
}

interface CreateWebhookProps {
  readonly onCreated: (made: CreatedWebhook) => void;
}

function CreateWebhookDialog({ onCreated }: CreateWebhookProps) {
  const [channel, setChannel] = useState<Channel>('sms');
  const send = async (values: FormValues) => {
    const body = { channel, url: values.text('url'), events: values.all('events') };
    onCreated(await create<CreatedWebhook>('/v2/account/webhooks', body));
  };
  return (
    <FormDialog title="Add a webhook" submit="Add webhook" onSubmit={send}>
      <Select
        name="channel"
        label="Channel"
        options={CHANNELS}
        value={channel}
        onInput={(value) => setChannel(value as Channel)} // one of the options
      />
      <Field
        name="url"
        label="Address"
        type="url"
        mono
        hint="Where your server takes the events: https, reachable from the internet."
      />
      <EventBoxes channel={channel} />
    </FormDialog>
  );
}

interface EventBoxesProps {
  readonly channel: Channel;
  /** Absent: all of the channel. */
  readonly initial?: readonly string[];
}

/** Which events are posted. */
export function EventBoxes({ channel, initial }: EventBoxesProps) {
  const events = useEvents(channel);
  if (events.length === 0) return null;
  const names = events.map(({ event }) => event);
  return (
    <Checkboxes
      key={channel}
      name="events"
      legend="Events"
      options={events.map(({ event, when }) => ({ value: event, label: event, hint: when }))}
      initial={initial ?? names}
    />
  );
}

/** The events of a channel; none until they are read. */
export function useEvents(channel: Channel): readonly OfferedEvent[] {
  const { rows = [] } = usePages<OfferedEvent>('/v2/account/webhook-events');
  return rows.filter(({ channels }) => channels.includes(channel));
}

/** Whether posts arrive, in words. */
export function Health({ of }: { readonly of: Webhook }) {
  if (of.state === 'disabled') return <Badge>Disabled</Badge>;
  if (of.failing_since === null) return <Badge tone="good">Active</Badge>;
  return (
    <>
      <Badge tone="bad">Failing</Badge> since <Time at={of.failing_since} />
      {of.last_failure && <span class="soft"> {of.last_failure.reason}</span>}
    </>
  );
}
