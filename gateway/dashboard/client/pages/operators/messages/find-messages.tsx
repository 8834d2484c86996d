import type { EntryOf } from '../../../../../api/endpoint.ts';
import type { findMessages } from '../../../../../endpoints/operators/messages.ts';
import { usePages } from '../../../api/pages.ts';
import { FilterAccount } from '../../../parts/account.tsx';
import { Badge } from '../../../parts/badge.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { FilterBar, FilterText } from '../../../parts/filter.tsx';
import { PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useUrlFilter } from '../../../parts/url-filter.ts';
import { STATUS_TONES } from '../../messages/message.ts';

type FoundMessage = EntryOf<typeof findMessages>;

/** Where a question of a customer begins: "my code did not arrive". */
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
            `${direction === 'in' ? 'received ' : ''}${channel === 'sms' ? 'SMS' : 'chat app'}${sender ? ` as ${sender}` : ''}`,
        },
        { head: 'Accepted', cell: ({ created_at }) => <Time at={created_at} /> },
        { head: 'Reference', cell: ({ reference }) => reference ?? '' },
        { head: 'Why', cell: ({ error_reason, error_code }) => error_reason ?? error_code ?? '' },
      ]}
    />
  );
}
