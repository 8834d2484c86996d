import type { EntryOf } from '../../../../api/endpoint.ts';
import type { unassignedSms, unmatchedReceipts } from '../../../../endpoints/traffic/unclaimed.ts';
import { usePages } from '../../api/load.ts';
import { FilterBar, FilterText, PagedTable, useUrlFilter } from '../../parts/list.tsx';
import { Card, Empty, PageHead } from '../../parts/page.tsx';
import { Time } from '../../parts/value.tsx';

type UnmatchedReceipt = EntryOf<typeof unmatchedReceipts>;
type UnassignedSms = EntryOf<typeof unassignedSms>;

export function UnmatchedPage() {
  const filter = useUrlFilter('carrier_id');
  const list = usePages<UnmatchedReceipt>('/v2/admin/unmatched-receipts', filter.values);
  return (
    <>
      <PageHead
        title="Unmatched"
        lead="What carriers delivered and nobody can be given: receipts without a message, SMS without an account."
      />
      <Card
        title="Receipts without a message"
        lead={
          <>
            Kept for three days and tried again when the answer with their id comes. Many of one carrier: its ids may be
            written in another notation. Set its <code>idForm</code> to <code>learn</code>.
          </>
        }
      >
        <FilterBar filter={filter}>
          <FilterText filter={filter} name="carrier_id" label="Carrier" placeholder="airtel" />
        </FilterBar>
        <PagedTable
          list={list}
          caption="Receipts without a message"
          rowKey={({ receipt_id }) => receipt_id}
          filter={filter}
          empty={<Empty icon="orphan">Every receipt found its message.</Empty>}
          columns={[
            { head: 'When', cell: (row) => <Time at={row.at} /> },
            { head: 'Carrier', cell: ({ carrier_id }) => carrier_id },
            { head: 'Its message id', cell: (row) => <code>{row.carrier_message_id ?? '–'}</code> },
            { head: 'Status', cell: ({ state }) => state },
            { head: 'Receipt', cell: ({ receipt }) => <code>{receipt}</code> },
          ]}
        />
      </Card>
      <Unassigned />
    </>
  );
}

function Unassigned() {
  const list = usePages<UnassignedSms>('/v2/admin/unassigned-sms');
  return (
    <Card
      title="Received SMS without an account"
      lead="No account has their number, or no keyword of the number fits. What they say is not shown here."
    >
      <PagedTable
        list={list}
        caption="Received SMS without an account"
        rowKey={({ unassigned_id }) => unassigned_id}
        empty={<Empty icon="inbox">Every received SMS belongs to an account.</Empty>}
        columns={[
          { head: 'When', cell: (row) => <Time at={row.at} /> },
          { head: 'Carrier', cell: ({ carrier_id }) => carrier_id },
          { head: 'From', cell: ({ from }) => from },
          { head: 'To', cell: ({ to }) => to },
        ]}
      />
    </Card>
  );
}
