import { AccountLink } from '../../../parts/account.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { number } from '../../../parts/number.ts';
import { Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';

/** As `GET /v2/admin/queues` shows it. */
export interface Queue {
  readonly path: string;
  readonly carriers: readonly string[] | null;
  readonly lane: string;
  readonly waiting: number;
  readonly more: boolean;
  readonly accounts: number;
  readonly oldest_at: string;
  readonly oldest_account_id: string;
}

export function Queues({ queues }: { readonly queues: readonly Queue[] }) {
  if (queues.length === 0) return <Empty icon="queue">Nothing waits to leave.</Empty>;
  return (
    <Table
      caption="Queues"
      rows={queues}
      rowKey={({ path, lane }) => `${path} ${lane}`}
      columns={[
        { head: 'Lane', cell: ({ lane }) => lane },
        { head: 'For', cell: ({ path, carriers }) => carriers?.join(', then ') ?? path },
        {
          head: 'Waiting',
          kind: 'number',
          cell: ({ waiting, more }) => `${more ? 'more than ' : ''}${number(waiting)}`,
        },
        { head: 'Accounts', kind: 'number', cell: ({ accounts }) => number(accounts) },
        {
          head: 'Oldest',
          cell: ({ oldest_at, oldest_account_id: id }) => (
            <>
              <Time at={oldest_at} />, <AccountLink id={id} />
            </>
          ),
        },
      ]}
    />
  );
}
