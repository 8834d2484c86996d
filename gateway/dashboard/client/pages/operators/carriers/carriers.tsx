import { useState } from 'preact/hooks';
import { useLive } from '../../../api/live.ts';
import { useLoad } from '../../../api/load.ts';
import { may } from '../../../api/session.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { number } from '../../../parts/number.ts';
import { Loading, PageHead } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import { type Carriers, rateOf, readable, toneOf } from './carrier.ts';
import { CreateCarrierDialog } from './create-carrier.tsx';

/** Carriers and their binds, as they are now. */
export function CarriersPage() {
  const loaded = useLoad<Carriers>('/v2/admin/carriers');
  const live = useLive<Carriers>('carriers');
  const [creating, setCreating] = useState(false);
  const add = may('admin:routing') && (
    <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
      Add carrier
    </Button>
  );
  return (
    <>
      <PageHead
        title="Carriers"
        lead="Who delivers SMS, and whether each is bound. It changes while you look."
        actions={add}
      />
      <Loading of={loaded}>
        {(data) => {
          const { carriers } = live ?? data;
          return carriers.length === 0 ? (
            <Empty icon="carrier" action={add}>
              No carriers yet. Without one, what is accepted waits.
            </Empty>
          ) : (
            <CarrierTable carriers={carriers} />
          );
        }}
      </Loading>
      {creating && <CreateCarrierDialog onClose={() => setCreating(false)} />}
    </>
  );
}

function CarrierTable({ carriers }: Carriers) {
  return (
    <Table
      caption="Carriers"
      rows={carriers}
      rowKey={({ carrier_id }) => carrier_id}
      columns={[
        { head: 'Carrier', cell: (row) => <a href={`/dashboard/admin/carriers/${row.carrier_id}`}>{row.name}</a> },
        {
          head: 'Status',
          cell: ({ condition, words }) => (
            <>
              <Badge tone={toneOf(condition)}>{condition.replaceAll('_', ' ')}</Badge>{' '}
              {readable(words).replace(/^bound /, '')}
            </>
          ),
        },
        {
          head: 'Window used',
          kind: 'number',
          cell: ({ binds, window_size: size }) =>
            binds.length === 0
              ? '–'
              : `${number(binds.reduce((sum, { window_used: used }) => sum + (used ?? 0), 0))} of ${number(size * binds.length)}`,
        },
        { head: 'Rate', cell: rateOf },
        {
          head: 'Answers p50, p99',
          cell: ({ measured }) =>
            measured?.answer_ms == null ? '–' : `${measured.answer_ms.p50} and ${measured.answer_ms.p99} ms`,
        },
        { head: 'Throttled', kind: 'number', cell: ({ measured }) => number(measured?.throttled ?? 0) },
        { head: 'Never answered', kind: 'number', cell: ({ unknowns }) => number(unknowns) },
      ]}
    />
  );
}
