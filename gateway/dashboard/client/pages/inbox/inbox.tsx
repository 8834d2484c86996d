import { useEffect, useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useLive } from '../../api/live.ts';
import { usePages } from '../../api/pages.ts';
import { LinkButton } from '../../parts/button.tsx';
import { optionsOf, useChatNumbers } from '../../parts/chat-numbers.ts';
import { calledOf, customerAsked } from '../../parts/customer.ts';
import { FilterBar, FilterSelect, FilterText, useUrlFilter } from '../../parts/filter.tsx';
import { exactNow } from '../../parts/now.ts';
import { Empty, PageHead, Tabs } from '../../parts/page.tsx';
import { type Column, PagedTable } from '../../parts/table.tsx';
import { Badge, exactTime, Time } from '../../parts/value.tsx';
import { type Customer, INBOX_TABS, type InboxMessage, type InboxRow, shortly } from './customer.ts';

/** Who wrote on the chat-app channel. */
export function InboxPage() {
  const filter = useUrlFilter('number');
  const numbers = useChatNumbers();
  const list = usePages<InboxRow>('/v2/account/inbox', filter.values);
  const newest = useLive<{ readonly message_id: string | null }>('inbox')?.message_id;
  useEffect(() => {
    if (newest !== undefined) list.follow();
  }, [newest, list.follow]);
  return (
    <>
      <PageHead
        title="Inbox"
        lead="What your customers wrote. For 24 hours after their last message you may answer freely."
      />
      <Tabs label="Channel" tabs={INBOX_TABS} />
      <FilterBar filter={filter}>
        <FindCustomer />
        {(numbers.length > 1 || filter.isSet) && (
          <FilterSelect filter={filter} name="number" label="Your number" options={optionsOf(numbers)} />
        )}
      </FilterBar>
      <PagedTable
        list={list}
        caption="Customers who wrote"
        rowKey={({ customer, number }) => `${customer.id} ${number}`}
        columns={COLUMNS}
        filter={filter}
        empty={
          <Empty icon="inbox" action={<LinkButton href="/docs#inbox">Read how messages come in</LinkButton>}>
            Nobody has written yet. Send a template; the answer appears here.
          </Empty>
        }
      />
    </>
  );
}

/** Leads to a customer's thread; of nobody known the page there says so. */
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

/** How long one may still write freely. */
export function SessionBadge({ customer: { session_until: until } }: { readonly customer: Customer }) {
  const left = until === null ? 0 : new Date(until).getTime() - exactNow();
  if (until === null || left <= 0) return <Badge>Closed: templates only</Badge>;
  return (
    <span title={`Until ${exactTime(until)}`}>
      <Badge tone={left < 60 * MINUTE_MS ? 'warn' : 'good'}>Open for {inWords(left)}</Badge>
    </span>
  );
}

/** Whether the session is open by the clock of this page. */
export function isOpen({ session_until: until }: Customer): boolean {
  return until !== null && new Date(until).getTime() > exactNow();
}

function inWords(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS));
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** What was written to the account's numbers. */
export function ReceivedSmsPage() {
  const filter = useUrlFilter('number');
  const list = usePages<InboxMessage>('/v2/account/received-sms', filter.values);
  const newest = useLive<{ readonly message_id: string | null }>('inbox')?.message_id;
  useEffect(() => {
    if (newest !== undefined) list.follow();
  }, [newest, list.follow]);
  return (
    <>
      <PageHead title="Inbox" lead="SMS to your numbers, the newest first." />
      <Tabs label="Channel" tabs={INBOX_TABS} />
      <FilterBar filter={filter}>
        <FilterText filter={filter} name="number" label="Your number" placeholder="919000000001" />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Received SMS"
        rowKey={({ message_id }) => message_id}
        columns={SMS_COLUMNS}
        filter={filter}
        empty={
          <Empty icon="inbox">
            No SMS yet. Ask your service provider for a number that your customers can write to.
          </Empty>
        }
      />
    </>
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
