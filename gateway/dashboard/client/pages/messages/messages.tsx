import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { exportList } from '../../../../endpoints/exports/exports.ts';
import type { message, messages } from '../../../../endpoints/messages/messages.ts';
import { create, queryText, remove } from '../../api/http.ts';
import { useLoad, useReadAgain } from '../../api/load.ts';
import { lookQuery } from '../../api/looking.ts';
import { usePages } from '../../api/pages.ts';
import { may, session } from '../../api/session.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { calledOf, customerAsked } from '../../parts/customer.ts';
import { toast, toastProblem } from '../../parts/dialog.tsx';
import {
  FilterBar,
  FilterSelect,
  FilterText,
  FilterTime,
  MoreFilters,
  type UrlFilter,
  useUrlFilter,
} from '../../parts/filter.tsx';
import { Card, Empty, NoResults, PageHead } from '../../parts/page.tsx';
import { type Column, PagedTable, Table } from '../../parts/table.tsx';
import { Badge, counted, Progress, Time, type Tone } from '../../parts/value.tsx';

export type Status = 'queued' | 'sent' | 'delivered' | 'failed' | 'expired' | 'rejected' | 'read' | 'received';

/** An entry of `GET /v2/messages`. */
export type Message = EntryOf<typeof messages>;

/** What `GET /v2/messages/{id}` tells beyond that. */
export type WholeMessage = AnswerOf<typeof message>;

/** One entry of a timeline: `what` says which other members it has. */
export type Happening = WholeMessage['timeline'][number];

export const STATUS_TONES: Readonly<Record<Status, Tone>> = {
  queued: 'plain',
  sent: 'info',
  delivered: 'good',
  read: 'good',
  received: 'info',
  failed: 'bad',
  expired: 'warn',
  rejected: 'bad',
};

export function messageHref(id: string): string {
  return `/dashboard/messages/${id}`;
}

const STATES = Object.keys(STATUS_TONES).map((state) => [state, state] as const);
const SELDOM = [
  'from',
  'customer',
  'reference',
  'sender',
  'batch_id',
  'created_from',
  'created_before',
  'change_id',
] as const;
const NAMES = ['to', 'state', 'channel', 'direction', ...SELDOM] as const;
type Name = (typeof NAMES)[number];

/** Search of all messages of the account. */
export function MessagesPage() {
  const filter = useSearch();
  const list = usePages<Message>('/v2/messages', filter.values);
  const files = useExports(withoutChange(filter.values));
  const actions = (
    <>
      {filter.values.customer === '' && files.button}
      {may('send') && (
        <LinkButton look="primary" icon="send" href="/dashboard/send">
          Send a message
        </LinkButton>
      )}
    </>
  );
  return (
    <>
      <PageHead title="Messages" lead="What you sent and received, the newest first." actions={actions} />
      {files.card}
      <FilterBar filter={filter}>
        <FilterText filter={filter} name="to" label="Recipient or message id" />
        <FilterSelect filter={filter} name="state" label="Status" options={STATES} />
        <FilterSelect filter={filter} name="channel" label="Channel" options={CHANNELS} />
        <FilterSelect filter={filter} name="direction" label="Direction" options={DIRECTIONS} />
        <MoreFilters filter={filter} names={SELDOM}>
          <FilterText filter={filter} name="from" label="Written by" />
          <FilterText
            filter={filter}
            name="customer"
            label="Chat-app customer"
            placeholder="Number, user id, user name"
          />
          <FilterText filter={filter} name="reference" label="Reference" />
          <FilterText filter={filter} name="sender" label="Sender" />
          <FilterText filter={filter} name="batch_id" label="Batch" placeholder="bat_…" />
          <FilterTime filter={filter} name="created_from" label="From" />
          <FilterTime filter={filter} name="created_before" label="Before" />
          <FilterText filter={filter} name="change_id" label="Change of the balance" placeholder="grp_…" />
        </MoreFilters>
      </FilterBar>
      <PagedTable
        list={list}
        caption="Messages"
        rowKey={({ message_id }) => message_id}
        columns={COLUMNS}
        empty={<Nothing filter={filter} />}
      />
    </>
  );
}

/** A file has no such filters. */
function withoutChange({ change_id, customer, ...others }: Readonly<Record<Name, string>>) {
  return others;
}

const CHANNELS = [
  ['sms', 'SMS'],
  ['chatapp', 'Chat-app'],
] as const;
const DIRECTIONS = [
  ['out', 'Sent'],
  ['in', 'Received'],
] as const;

/** The filters in the address. An id leads to its message, and a number is searched however it was written. */
function useSearch(): UrlFilter<Name> {
  const filter = useUrlFilter(...NAMES);
  const { route } = useLocation();
  const set = (changed: Partial<Record<Name, string>>) => {
    const { to, from, customer } = changed;
    if (to?.startsWith('msg_')) route(messageHref(to));
    else
      filter.set({
        ...changed,
        ...(to === undefined ? {} : { to: customerAsked(to) }),
        ...(from === undefined ? {} : { from: customerAsked(from) }),
        ...(customer === undefined ? {} : { customer: customerAsked(customer) }),
      });
  };
  return { ...filter, set };
}

function Nothing({ filter }: { readonly filter: UrlFilter<Name> }) {
  if (filter.isSet) return <NoResults clear={filter.clear} />;
  return (
    <Empty icon="messages" action={may('send') && <LinkButton href="/dashboard/send">Send a message</LinkButton>}>
      No messages yet. Send the first one here, or by the API.
    </Empty>
  );
}

const COLUMNS: readonly Column<Message>[] = [
  {
    head: 'Number or customer',
    cell: ({ message_id, to, from, direction, customer }) => (
      <a href={messageHref(message_id)}>
        {customer ? calledOf(customer) : direction === 'in' ? (from ?? 'unknown') : to}
      </a>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
  {
    head: 'What',
    cell: ({ channel, direction, type, sender }) =>
      `${direction === 'in' ? 'received ' : ''}${channel === 'sms' ? 'SMS' : 'chat-app'}${sender ? ` as ${sender}` : ''}${type ? `, ${type}` : ''}`,
  },
  { head: 'Accepted', cell: ({ created_at }) => <Time at={created_at} /> },
  { head: 'Delivered', cell: ({ delivered_at }) => <Time at={delivered_at} /> },
  { head: 'Reference', cell: ({ reference }) => reference ?? '' },
  { head: 'Why', cell: ({ error_reason, error_code }) => error_reason ?? error_code ?? '' },
];

type Exports = AnswerOf<typeof exportList>;
type Export = Exports['exports'][number];

/** The files of messages that were asked for, and the button that asks for what is shown now. */
function useExports(filter: Readonly<Record<string, string>>) {
  const loaded = useLoad<Exports>('/v2/account/exports');
  const [busy, setBusy] = useState(false);
  useReadAgain(loaded, ({ exports }) => exports.some(({ state }) => state === 'running'));
  const begin = async () => {
    setBusy(true);
    const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
    await create('/v2/account/exports', asked)
      .then(() => toast('The file is being made. It appears below.'))
      .catch(toastProblem);
    setBusy(false);
    loaded.reload();
  };
  const drop = async (id: string) => {
    await remove(`/v2/account/exports/${id}`).catch(toastProblem);
    loaded.reload();
  };
  const rows = loaded.data?.exports ?? [];
  return {
    button: (
      <Button icon="down" busy={busy} onClick={begin}>
        Export as CSV
      </Button>
    ),
    card: rows.length > 0 && (
      <Card
        title="Files"
        lead="Of the messages that fitted the filter when you asked, without their texts. Kept for a day."
      >
        <Table
          caption="Exports"
          rows={rows}
          rowKey={({ export_id }) => export_id}
          columns={[
            { head: 'Asked for', cell: ({ started_at }) => <Time at={started_at} /> },
            { head: 'Status', cell: (row) => <State of={row} /> },
            {
              head: 'Messages',
              kind: 'number',
              cell: ({ rows, complete }) => `${counted(rows, 'message')}${complete ? '' : ', cut off'}`,
            },
            { head: 'Removed', cell: ({ expires_at }) => <Time at={expires_at} /> },
            {
              head: 'Actions',
              kind: 'actions',
              cell: (row) => <Actions of={row} onRemove={() => drop(row.export_id)} />,
            },
          ]}
        />
      </Card>
    ),
  };
}

function State({ of: { export_id: id, state, progress } }: { readonly of: Export }) {
  if (state === 'done') return <Badge tone="good">ready</Badge>;
  if (state === 'failed') return <Badge tone="bad">failed: ask again</Badge>;
  return <Progress part={progress} label={`Progress of ${id}`} />;
}

function Actions({
  of: { export_id: id, state, may_remove },
  onRemove,
}: {
  readonly of: Export;
  readonly onRemove: () => void;
}) {
  const user = session.value?.user.user_id;
  return (
    <>
      {state === 'done' && (
        <LinkButton
          icon="down"
          href={`/v2/account/exports/${id}/file${queryText({ ...lookQuery(), user })}`}
          download="messages.csv"
        >
          Download
        </LinkButton>
      )}
      {may_remove && (
        <Button look="quiet" icon="close" onClick={onRemove}>
          Remove
        </Button>
      )}
    </>
  );
}
