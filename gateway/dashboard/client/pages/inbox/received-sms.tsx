import { useEffect } from 'preact/hooks';
import { useLive } from '../../api/live.ts';
import { usePages } from '../../api/pages.ts';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterText } from '../../parts/filter.tsx';
import { PageHead } from '../../parts/page.tsx';
import { type Column, PagedTable } from '../../parts/table.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { INBOX_TABS, type InboxMessage } from './customer.ts';

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
        columns={COLUMNS}
        empty={
          filter.isSet ? (
            <NoResults clear={filter.clear} />
          ) : (
            <Empty icon="inbox">
              No SMS yet. Ask your service provider for a number that your customers can write to.
            </Empty>
          )
        }
      />
    </>
  );
}

const COLUMNS: readonly Column<InboxMessage>[] = [
  {
    head: 'From',
    cell: ({ from, message_id }) => <a href={`/dashboard/messages/${message_id}`}>{from ?? 'unknown'}</a>,
  },
  { head: 'To your number', cell: ({ to }) => to },
  { head: 'Text', cell: ({ body, type }) => (body === undefined || body === '' ? type : body) },
  { head: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
];
