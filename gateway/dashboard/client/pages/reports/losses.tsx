import type { EntryOf } from '../../../../api/endpoint.ts';
import type { conversationLosses } from '../../../../endpoints/reports/losses.ts';
import { usePages } from '../../api/pages.ts';
import { AccountLink, FilterAccount } from '../../parts/account.tsx';
import { Empty } from '../../parts/empty.tsx';
import { FilterBar } from '../../parts/filter.tsx';
import { number } from '../../parts/number.ts';
import { PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';

/** Chat-app conversations that cost the operator more than they earned. */
export function LossesPage() {
  const filter = useUrlFilter('account_id');
  const list = usePages<EntryOf<typeof conversationLosses>>('/v2/admin/conversation-losses', filter.values);
  return (
    <>
      <PageHead
        title="Conversations that cost more"
        back={{ href: '/dashboard/admin/reports', label: 'Reports' }}
        lead="An account pays a conversation once, and the provider takes money for each message. Counted by the provider's price list and what a credit earns; the limits of an account can bound the messages of a conversation."
      />
      <FilterBar filter={filter}>
        <FilterAccount filter={filter} />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Conversations that cost more than they earned"
        rowKey={({ conversation_id }) => conversation_id}
        empty={<Empty icon="credits">None in the last month, where a price list is set.</Empty>}
        columns={[
          { head: 'Opened', cell: ({ opened_at: at }) => <Time at={at} /> },
          { head: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
          {
            head: 'First message',
            cell: ({ opener }) => <a href={`/dashboard/admin/messages/${opener}`}>{opener}</a>,
          },
          { head: 'Billed messages', kind: 'number', cell: ({ messages }) => number(messages) },
          { head: 'Credits', kind: 'number', cell: ({ credits }) => number(credits) },
          { head: 'Earned', kind: 'number', cell: ({ earned, currency }) => `${earned} ${currency}` },
          { head: 'Cost', kind: 'number', cell: ({ cost, currency }) => `${cost} ${currency}` },
          { head: 'Lost', kind: 'number', cell: ({ lost, currency }) => `${lost} ${currency}` },
        ]}
      />
    </>
  );
}
