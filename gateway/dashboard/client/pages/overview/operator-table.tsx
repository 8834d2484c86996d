import { Empty } from '../../parts/empty.tsx';
import { number } from '../../parts/number.ts';
import { Table } from '../../parts/table.tsx';
import { duration, type OperatorRow, percent } from './statistics.ts';

export function OperatorTable({ rows }: { readonly rows: readonly OperatorRow[] }) {
  if (rows.length === 0) return <Empty icon="carrier">No message of this period has ended yet.</Empty>;
  return (
    <Table
      caption="Delivery by carrier"
      rows={rows}
      rowKey={({ operator, channel }) => `${channel} ${operator}`}
      columns={[
        { head: 'Carrier', cell: ({ operator }) => operator },
        { head: 'Ended', kind: 'number', cell: ({ ended }) => number(ended) },
        { head: 'Delivered', kind: 'number', cell: ({ delivery_rate }) => percent(delivery_rate) },
        { head: 'Half within', kind: 'number', cell: ({ seconds_p50 }) => duration(seconds_p50) },
        { head: '95 % within', kind: 'number', cell: ({ seconds_p95 }) => duration(seconds_p95) },
      ]}
    />
  );
}
