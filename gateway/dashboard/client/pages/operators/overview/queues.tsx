import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { operatorQueues } from '../../../../../endpoints/traffic/overview.ts';
import { AccountLink } from '../../../parts/account.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { number } from '../../../parts/number.ts';
import { Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';

/** As `GET /v2/admin/queues` shows it. */
export type Queue = AnswerOf<typeof operatorQueues>['queues'][number];

export function Queues({ queues }: { readonly queues: readonly Queue[] }) {
  if (queues.length === 0) return <Empty icon="queue">Nothing waits to leave for the first time.</Empty>;
  return (
    <Table
      caption="Queues"
      rows={queues}
      rowKey={({ path, lane }) => `${path} ${lane}`}
      columns={[
        { head: 'Priority', cell: ({ lane }) => lane },
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
