import { useEffect, useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Query } from '../api/http.ts';
import { useLive } from '../api/live.ts';
import { type Listed, usePages } from '../api/load.ts';
import { type Customer, calledOf, customerAsked, type InboxMessage, type InboxRow, shortly } from '../parts/chat.ts';
import { optionsOf, useChatNumbers } from '../parts/chat-numbers.ts';
import { type Column, FilterSelect, FilterText, ListPage, useUrlFilter } from '../parts/list.tsx';
import { exactNow } from '../parts/now.ts';
import { Tabs } from '../parts/page.tsx';
import { Badge, exactTime, Time } from '../parts/value.tsx';

const TABS = [
  { href: '/dashboard/inbox', label: 'Chat-app' },
  { href: '/dashboard/inbox/sms', label: 'SMS' },
] as const;

export function InboxPage() {
  const filter = useUrlFilter('number');
  const numbers = useChatNumbers();
  return (
    <ListPage
      title="Inbox"
      lead="What your customers wrote. For 24 hours after their last message you may answer freely."
      list={useReceived<InboxRow>('/v2/account/inbox', filter.values)}
      filter={filter}
      filters={
        <>
          <FindCustomer />
          {(numbers.length > 1 || filter.isSet) && (
            <FilterSelect filter={filter} name="number" label="Your number" options={optionsOf(numbers)} />
          )}
        </>
      }
      caption="Customers who wrote"
      rowKey={({ customer, number }) => `${customer.id} ${number}`}
      columns={COLUMNS}
      icon="inbox"
      empty={
        <>
          Nobody has written yet. Send a template; the answer appears here.{' '}
          <a href="/docs#inbox">Read how messages come in</a>
        </>
      }
    >
      <Tabs label="Channel" tabs={TABS} />
    </ListPage>
  );
}

/** A list that is read again when a customer writes. */
function useReceived<T>(path: string, query: Query): Listed<T> {
  const list = usePages<T>(path, query);
  const newest = useLive<{ readonly message_id: string | null }>('inbox')?.message_id;
  useEffect(() => {
    if (newest !== undefined) list.follow();
  }, [newest, list.follow]);
  return list;
}

/** Opens a customer's conversation; for an unknown number that page says so. */
function FindCustomer() {
  const { route } = useLocation();
  const id = useId();
  return (
    <div class="filter">
      <label for={id}>Customer</label>
      <input
        id={id}
        type="search"
        placeholder="Number, id or name"
        onChange={({ currentTarget: { value } }) => {
          const asked = customerAsked(value);
          if (asked !== '') route(`/dashboard/inbox/${encodeURIComponent(asked)}`);
        }}
      />
    </div>
  );
}

const COLUMNS: readonly Column<InboxRow>[] = [
  {
    head: 'Customer',
    cell: ({ customer, number }) => (
      <a href={`/dashboard/inbox/${customer.id}?number=${number}`}>{calledOf(customer)}</a>
    ),
  },
  { head: 'To your number', cell: ({ number }) => number },
  { head: 'Last message', cell: ({ last_message: last }) => (last === null ? '–' : shortly(last)) },
  { head: 'When', cell: ({ last_message_at: at }) => <Time at={at} /> },
  { head: 'Session', cell: (row) => <SessionBadge customer={row} /> },
];

const MINUTE_MS = 60_000;

/** How much time is left for free-form messages. */
export function SessionBadge({ customer: { session_until: until } }: { readonly customer: Customer }) {
  const left = until === null ? 0 : new Date(until).getTime() - exactNow();
  if (until === null || left <= 0) return <Badge>Closed: templates only</Badge>;
  return (
    <span title={`Until ${exactTime(until)}`}>
      <Badge tone={left < 60 * MINUTE_MS ? 'warn' : 'good'}>Open for {inWords(left)}</Badge>
    </span>
  );
}

/** By this page's clock. */
export function isOpen({ session_until: until }: Customer): boolean {
  return until !== null && new Date(until).getTime() > exactNow();
}

function inWords(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS));
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function ReceivedSmsPage() {
  const filter = useUrlFilter('number');
  return (
    <ListPage
      title="Inbox"
      lead="SMS to your numbers, the newest first."
      list={useReceived<InboxMessage>('/v2/account/received-sms', filter.values)}
      filter={filter}
      filters={<FilterText filter={filter} name="number" label="Your number" placeholder="919000000001" />}
      caption="Received SMS"
      rowKey={({ message_id }) => message_id}
      columns={SMS_COLUMNS}
      icon="inbox"
      empty="No SMS yet. Ask your service provider for a number that your customers can write to."
    >
      <Tabs label="Channel" tabs={TABS} />
    </ListPage>
  );
}

const SMS_COLUMNS: readonly Column<InboxMessage>[] = [
  {
    head: 'From',
    cell: ({ from, message_id }) => <a href={`/dashboard/messages/${message_id}`}>{from ?? 'unknown'}</a>,
  },
  { head: 'To your number', cell: ({ to }) => to },
  { head: 'Text', cell: ({ body, type }) => (body === undefined || body === '' ? type : body) },
  { head: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
];
