import { useEffect, useId } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useLive } from '../../api/live.ts';
import { usePages } from '../../api/pages.ts';
import { LinkButton } from '../../parts/button.tsx';
import { optionsOf, useChatNumbers } from '../../parts/chat-numbers.ts';
import { calledOf, customerAsked } from '../../parts/customer.ts';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterSelect } from '../../parts/filter.tsx';
import { PageHead } from '../../parts/page.tsx';
import { type Column, PagedTable } from '../../parts/table.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { INBOX_TABS, type InboxRow, shortly } from './customer.ts';
import { SessionBadge } from './session-badge.tsx';

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
        empty={
          filter.isSet ? (
            <NoResults clear={filter.clear} />
          ) : (
            <Empty icon="inbox" action={<LinkButton href="/docs#inbox">Read how messages come in</LinkButton>}>
              Nobody has written yet. Send a template; the answer appears here.
            </Empty>
          )
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
