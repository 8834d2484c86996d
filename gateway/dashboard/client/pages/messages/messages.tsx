import { useLocation } from 'preact-iso/router';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { calledOf, customerAsked } from '../../parts/customer.ts';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterSelect, FilterText, FilterTime, MoreFilters } from '../../parts/filter.tsx';
import { PageHead } from '../../parts/page.tsx';
import { type Column, PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { type UrlFilter, useUrlFilter } from '../../parts/url-filter.ts';
import { useExports } from './exports.tsx';
import { type Message, messageHref, STATUS_TONES } from './message.ts';

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
