import { usePages } from '../../../api/pages.ts';
import { Empty, NoResults } from '../../../parts/empty.tsx';
import { FilterBar, FilterText } from '../../../parts/filter.tsx';
import { Card, PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useUrlFilter } from '../../../parts/url-filter.ts';

/** As `GET /v2/admin/orphans` shows it. */
interface Orphan {
  readonly orphan_id: string;
  readonly carrier_id: string;
  readonly at: string;
  readonly to: string;
  readonly from: string;
  readonly state: string;
  readonly carrier_message_id: string | null;
  readonly receipt: string;
}

/** As `GET /v2/admin/strays` shows it. */
interface Stray {
  readonly stray_id: string;
  readonly at: string;
  readonly carrier_id: string;
  readonly from: string;
  readonly to: string;
}

/** What carriers delivered and nobody owns. */
export function OrphansPage() {
  const filter = useUrlFilter('carrier_id');
  const list = usePages<Orphan>('/v2/admin/orphans', filter.values);
  return (
    <>
      <PageHead title="Orphans" lead="Receipts that fit no message, and SMS to numbers of nobody." />
      <Card
        title="Receipts that fit no message"
        lead="Kept for three days and tried again when the answer with their id comes. Many of one carrier: its ids may be written in another notation. Set its id-form to learn."
      >
        <FilterBar filter={filter}>
          <FilterText filter={filter} name="carrier_id" label="Carrier" placeholder="airtel" />
        </FilterBar>
        <PagedTable
          list={list}
          caption="Receipts that fit no message"
          rowKey={({ orphan_id }) => orphan_id}
          empty={
            filter.isSet ? (
              <NoResults clear={filter.clear} />
            ) : (
              <Empty icon="orphan">Every receipt found its message.</Empty>
            )
          }
          columns={[
            { head: 'When', cell: (row) => <Time at={row.at} /> },
            { head: 'Carrier', cell: ({ carrier_id }) => carrier_id },
            { head: 'Its message id', cell: (row) => <code>{row.carrier_message_id ?? '–'}</code> },
            { head: 'State', cell: ({ state }) => state },
            { head: 'Receipt', cell: ({ receipt }) => <code>{receipt}</code> },
          ]}
        />
      </Card>
      <Strays />
    </>
  );
}

function Strays() {
  const list = usePages<Stray>('/v2/admin/strays');
  return (
    <Card
      title="Received SMS of nobody"
      lead="No account has their number, or no keyword of the number fits. What they say is not shown here."
    >
      <PagedTable
        list={list}
        caption="Received SMS of nobody"
        rowKey={({ stray_id }) => stray_id}
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
