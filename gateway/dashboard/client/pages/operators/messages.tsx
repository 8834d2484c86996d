import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { findMessage, findMessages } from '../../../../endpoints/operators/messages.ts';
import { useLoad } from '../../api/load.ts';
import { usePages } from '../../api/pages.ts';
import { lookAt } from '../../api/session.ts';
import { FilterAccount } from '../../parts/account.tsx';
import { FilterBar, FilterText, useUrlFilter } from '../../parts/filter.tsx';
import { Empty, Loading, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Badge, Time } from '../../parts/value.tsx';
import type { PageProps } from '../../router/route.tsx';
import { messageHref, STATUS_TONES } from '../messages/messages.tsx';

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

/** A message of any account: its page in that account, where its webhooks and its batch are too. */
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
