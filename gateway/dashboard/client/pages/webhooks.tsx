import { useState } from 'preact/hooks';
import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { deliveries, showDelivery } from '../../../endpoints/webhooks/deliveries.ts';
import type { replays } from '../../../endpoints/webhooks/replays.ts';
import type { createWebhook, showWebhook } from '../../../endpoints/webhooks/webhooks.ts';
import { create, fieldProblem, patch } from '../api/http.ts';
import { usePages } from '../api/load.ts';
import { may } from '../api/session.ts';
import { CHANNEL_CHOICES, type CHANNEL_WORDS } from '../parts/channel.ts';
import { Checkbox, Checkboxes, Field, Select, TextArea } from '../parts/field.tsx';
import { FormDialog, type FormValues, SecretDialog, toast, useDialog } from '../parts/form.tsx';
import { ListPage } from '../parts/list.tsx';
import { AddButton, Badge, Time, type Tone } from '../parts/value.tsx';

type Channel = keyof typeof CHANNEL_WORDS | 'account';

/** An entry of `GET /v2/account/webhook-events`. */
interface OfferedEvent {
  readonly event: string;
  readonly channels: readonly Channel[];
  readonly when: string;
}

export type Webhook = AnswerOf<typeof showWebhook>;

/** Has the secret, shown this once; absent when the address already had a webhook. */
export type CreatedWebhook = AnswerOf<typeof createWebhook>;

export type ListedDelivery = EntryOf<typeof deliveries>;
export type WholeDelivery = AnswerOf<typeof showDelivery>;
export type Replay = EntryOf<typeof replays>;

export const CHANNELS: readonly (readonly [Channel, string])[] = [...CHANNEL_CHOICES, ['account', 'Account']];

const FILTERS: readonly (readonly [keyof Webhook['filter'], string, string])[] = [
  ['sender', 'Only these senders', 'With commas. Of received messages: your number.'],
  ['route', 'Only this route', 'transactional or promotional'],
  ['reference_prefix', 'Only references that begin with', 'With commas.'],
  ['number_prefix', 'Only numbers that begin with', 'With commas, country code first.'],
  ['error_code', 'Only these error codes', 'With commas.'],
];

export const DELIVERY_STATES: Readonly<
  Record<ListedDelivery['state'], { readonly words: string; readonly tone: Tone }>
> = {
  due: { words: 'Next', tone: 'info' },
  waiting: { words: 'Retrying', tone: 'warn' },
  done: { words: 'Delivered', tone: 'good' },
  exhausted: { words: 'Failed', tone: 'bad' },
  discarded: { words: 'Discarded', tone: 'plain' },
};

const NAMED_MAX = 2;

/** `sender HARKRA, route promotional` */
export function filterInWords({ filter }: Webhook): string {
  return FILTERS.flatMap(([name]) => {
    const values = filter[name];
    return values === undefined ? [] : [`${name.replace('_', ' ')} ${values.join(' or ')}`];
  }).join(', ');
}

/** Event names, or their number if they are many. */
function eventsInWords({ events }: Webhook): string {
  return events.length > NAMED_MAX ? `${events.length} events` : events.join(', ');
}

export function WebhooksPage() {
  const list = usePages<Webhook>('/v2/account/webhooks');
  const [dialog, open] = useDialog();
  const show = ({ secret }: CreatedWebhook) => {
    list.reload();
    if (secret === undefined) toast('The address was there already. It keeps its secret and is enabled.');
    else open(<SecretDialog name="webhook secret" text={secret} hint="Your server checks the signatures with it." />);
  };
  return (
    <ListPage
      title="Webhooks"
      lead="Addresses of yours that events are posted to, as they happen."
      next={
        may('manage') && (
          <AddButton onClick={() => open(<CreateWebhookDialog onCreated={show} />)}>Add webhook</AddButton>
        )
      }
      list={list}
      rowKey={({ webhook_id }) => webhook_id}
      icon="webhook"
      empty={
        <>
          No webhooks yet. Add one, and your server hears when messages arrive.{' '}
          <a href="/docs">Events and their payloads</a>
        </>
      }
      columns={[
        { head: 'Address', cell: (row) => <a href={`/dashboard/webhooks/${row.webhook_id}`}>{row.url}</a> },
        { head: 'Channel', cell: ({ channel }) => CHANNELS.find(([name]) => name === channel)?.[1] },
        { head: 'Events', cell: eventsInWords },
        { head: 'Status', cell: (row) => <Health of={row} /> },
        { head: 'Made', cell: (row) => <Time at={row.created_at} /> },
      ]}
      after={dialog}
    />
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
      <Field name="url" label="Address" type="url" mono>
        Where your server takes the events: https, reachable from the internet.
      </Field>
      <EventBoxes channel={channel} />
    </FormDialog>
  );
}

interface EventBoxesProps {
  readonly channel: Channel;
  /** Absent: all events of the channel. */
  readonly initial?: readonly string[];
}

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

/** Empty until they are loaded. */
export function useEvents(channel: Channel): readonly OfferedEvent[] {
  const { rows = [] } = usePages<OfferedEvent>('/v2/account/webhook-events');
  return rows.filter(({ channels }) => channels.includes(channel));
}

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

interface PostingDialogProps {
  readonly webhook: Webhook;
  readonly path: string;
  readonly onChange: () => void;
}

export function PostingDialog({ webhook, path, onChange }: PostingDialogProps) {
  const { headers, channel } = webhook;
  const pauses = webhook.retry_seconds.join(', ');
  const lines = (secret: boolean) =>
    headers.flatMap((one) => (one.secret === secret ? [`${one.name}: ${one.value ?? ''}`] : [])).join('\n');
  return (
    <FormDialog
      title="Change how events are posted"
      of={webhook}
      submit="Save"
      onSubmit={async (values) => {
        await patch(path, {
          headers: [...headersIn(values, 'headers', false), ...headersIn(values, 'secret_headers', true)],
          // Retry pauses are sent only if changed: unchanged defaults must not become the webhook's own.
          ...(values.text('retry_seconds') !== pauses && { retry_seconds: pausesIn(values) }),
          events_per_post: values.neededNumber('events_per_post'),
          gather_ms: values.neededNumber('gather_ms'),
          ...(channel === 'sms' && { raw: values.has('raw') }),
          ...(channel !== 'account' && { filter: filterIn(values) }),
        });
        onChange();
        return 'Saved.';
      }}
    >
      <TextArea name="headers" label="Own headers" initial={lines(false)} optional>
        One in each line, as Name: value. They are in every post.
      </TextArea>
      <TextArea name="secret_headers" label="Secret headers" initial={lines(true)} optional>
        The same, sealed and never shown again. A line that ends with the colon keeps its value.
      </TextArea>
      <Field name="retry_seconds" label="Pauses between tries" optional>
        In seconds, with commas. Empty: 5 s to 10 h, over 28 hours.
      </Field>
      <Field name="events_per_post" label="Events in a post" type="number">
        1 to 100. Above 1 a post is an array, also of one event: change your server first.
      </Field>
      <Field name="gather_ms" label="Wait for others (ms)" type="number">
        How long an event waits so that others go with it: 0 to 60,000.
      </Field>
      {channel === 'sms' && (
        <Checkbox name="raw" label="With the carrier's receipt">
          Delivered, failed, expired and rejected have raw: the receipt's text and TLVs.
        </Checkbox>
      )}
      {channel !== 'account' &&
        FILTERS.map(([name, label, hint]) => (
          <Field key={name} name={`filter.${name}`} label={label} optional>
            {hint}
          </Field>
        ))}
    </FormDialog>
  );
}

function headersIn(values: FormValues, field: string, secret: boolean) {
  return values.lines(field).map((line) => {
    const [name = '', ...rest] = line.split(':');
    const value = rest.join(':').trim();
    return { name: name.trim(), secret, ...(value !== '' && { value }) };
  });
}

function pausesIn(values: FormValues): number[] {
  const pauses = listIn(values, 'retry_seconds').map(Number);
  if (!pauses.some(Number.isNaN)) return pauses;
  const detail = 'They must be numbers, with commas between.';
  throw fieldProblem({ field: 'retry_seconds', code: 'wrong_type', detail });
}

function filterIn(values: FormValues): Webhook['filter'] {
  const given = FILTERS.map(([name]) => [name, listIn(values, `filter.${name}`)] as const);
  return Object.fromEntries(given.filter(([, some]) => some.length > 0));
}

function listIn(values: FormValues, name: string): string[] {
  return values
    .text(name)
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
