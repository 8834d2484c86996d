import { Empty } from '../../parts/empty.tsx';
import { number } from '../../parts/number.ts';
import { Table } from '../../parts/table.tsx';
import { Words } from '../../parts/words.tsx';
import type { ErrorRow } from './statistics.ts';

export function ErrorTable({ rows }: { readonly rows: readonly ErrorRow[] }) {
  if (rows.length === 0) return <Empty icon="check">No message of this period failed.</Empty>;
  return (
    <Table
      caption="Error codes"
      rows={rows}
      rowKey={({ error_code }) => error_code}
      columns={[
        { head: 'Code', cell: ({ error_code }) => <code>{error_code}</code> },
        {
          head: 'What happened, what to do',
          cell: ({ cause = '', advice = '' }) => <Words text={`${cause} ${advice}`} />,
        },
        { head: 'Messages', kind: 'number', cell: ({ messages }) => number(messages) },
      ]}
    />
  );
}
