import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { exportList } from '../../../endpoints/exports/exports.ts';
import type { message, messages } from '../../../endpoints/messages/messages.ts';
import type { findMessage, findMessages } from '../../../endpoints/operators/messages.ts';
import { create, lookQuery, queryText, remove } from '../api/http.ts';
import { useLoad, usePages, useReadAgain } from '../api/load.ts';
import { lookAt, may, session } from '../api/session.ts';
import { FilterAccount } from '../parts/account.tsx';
import { CHANNEL_CHOICES, CHANNEL_WORDS } from '../parts/channel.ts';
import { calledOf, customerAsked } from '../parts/chat.ts';
import { toast, toastProblem } from '../parts/form.tsx';
import {
  type Column,
  FilterBar,
  FilterSelect,
  FilterText,
  FilterTime,
  MoreFilters,
  PagedTable,
  Table,
  type UrlFilter,
  useUrlFilter,
} from '../parts/list.tsx';
import { Card, Empty, Loading, NoResults, PageHead, type PageProps } from '../parts/page.tsx';
import { Badge, Button, counted, LinkButton, Progress, Time, type Tone } from '../parts/value.tsx';

export type Status = 'queued' | 'sent' | 'delivered' | 'failed' | 'expired' | 'rejected' | 'read' | 'received';

export type Message = EntryOf<typeof messages>;
export type WholeMessage = AnswerOf<typeof message>;

/** An entry of a message's timeline; `what` decides which other members it has. */
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
        <FilterSelect filter={filter} name="channel" label="Channel" options={CHANNEL_CHOICES} />
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

/** Exports do not have these filters. */
function withoutChange({ change_id, customer, ...others }: Readonly<Record<Name, string>>) {
  return others;
}

const DIRECTIONS = [
  ['out', 'Sent'],
  ['in', 'Received'],
] as const;

/** The filters in the address. Entering an id opens that message; a number may be written in any form. */
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
      `${direction === 'in' ? 'received ' : ''}${CHANNEL_WORDS[channel]}${sender ? ` as ${sender}` : ''}${type ? `, ${type}` : ''}`,
  },
  { head: 'Accepted', cell: ({ created_at }) => <Time at={created_at} /> },
  { head: 'Delivered', cell: ({ delivered_at }) => <Time at={delivered_at} /> },
  { head: 'Reference', cell: ({ reference }) => reference ?? '' },
  { head: 'Why', cell: ({ error_reason, error_code }) => error_reason ?? error_code ?? '' },
];

type Exports = AnswerOf<typeof exportList>;
type Export = Exports['exports'][number];

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

type FoundMessage = EntryOf<typeof findMessages>;

export function FindMessagesPage() {
  const filter = useUrlFilter('search', 'account_id');
  const { search } = filter.values;
  return (
    <>
      <PageHead title="Find messages" lead="Of all accounts, the newest first." />
      <FilterBar filter={filter}>
        <FilterText
          filter={filter}
          name="search"
          label="Number, message id, batch id or reference"
          placeholder="98765 43210, msg_…, order 7"
        />
        <FilterAccount filter={filter} />
      </FilterBar>
      {search === '' ? (
        <Empty icon="search">
          Enter a number as the customer says it, with or without country code. Or an id or a reference. Your search is
          recorded in the audit.
        </Empty>
      ) : (
        <Found values={filter.values} key={search} />
      )}
    </>
  );
}

function Found({ values }: { readonly values: Readonly<Record<'search' | 'account_id', string>> }) {
  const list = usePages<FoundMessage>('/v2/admin/messages', values);
  return (
    <PagedTable
      list={list}
      caption="Messages found"
      rowKey={({ message_id }) => message_id}
      empty={
        <Empty icon="search">
          No message. A number is found by all of its digits; a message some three seconds after it was accepted, and
          for as long as messages are kept.
        </Empty>
      }
      columns={[
        {
          head: 'Number',
          cell: ({ message_id, to, from, direction }) => (
            <a href={`/dashboard/admin/messages/${message_id}`}>{direction === 'in' ? (from ?? 'unknown') : to}</a>
          ),
        },
        {
          head: 'Account',
          cell: (row) => <a href={`/dashboard/admin/accounts/${row.account_id}`}>{row.account_name}</a>,
        },
        { head: 'Status', cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
        {
          head: 'What',
          cell: ({ channel, direction, sender }) =>
            `${direction === 'in' ? 'received ' : ''}${CHANNEL_WORDS[channel]}${sender ? ` as ${sender}` : ''}`,
        },
        { head: 'Accepted', cell: ({ created_at }) => <Time at={created_at} /> },
        { head: 'Reference', cell: ({ reference }) => reference ?? '' },
        { head: 'Why', cell: ({ error_reason, error_code }) => error_reason ?? error_code ?? '' },
      ]}
    />
  );
}

/** Redirects to the message's page inside its account, which also has its webhooks and batch. */
export function OpenMessagePage({ params: { message_id: id = '' } }: PageProps) {
  const { route } = useLocation();
  const found = useLoad<AnswerOf<typeof findMessage>>(`/v2/admin/messages/${encodeURIComponent(id)}`);
  const { data } = found;
  useEffect(() => {
    if (data === undefined) return;
    lookAt({ account_id: data.account_id, name: data.account_name });
    route(messageHref(id), true);
  }, [data, id, route]);
  return (
    <>
      <PageHead title="Message" back={{ href: '/dashboard/admin/messages', label: 'Find messages' }} />
      <Loading of={found}>{() => null}</Loading>
    </>
  );
}
