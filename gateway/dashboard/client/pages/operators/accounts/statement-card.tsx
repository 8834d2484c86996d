import { usePages } from '../../../api/pages.ts';
import { Empty } from '../../../parts/empty.tsx';
import { number } from '../../../parts/number.ts';
import { Card } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';

/** As `GET /v2/admin/accounts/{account_id}/ledger` shows it. */
interface Entry {
  readonly seq: number;
  readonly at: string;
  readonly amount: number;
  readonly balance_after: number;
  readonly reason: string;
  readonly reference: string | null;
  readonly note?: string;
  readonly by: string | null;
}

const REASONS: Readonly<Record<string, string>> = {
  send: 'Messages',
  conversation: 'Conversation',
  top_up: 'Top-up',
  refund: 'Refund',
  correction: 'Correction',
};

export function StatementCard({ account }: { readonly account: string }) {
  const list = usePages<Entry>(`/v2/admin/accounts/${account}/ledger`, { limit: 10 });
  return (
    <Card title="Statement">
      <PagedTable
        list={list}
        caption="Statement"
        rowKey={({ seq }) => String(seq)}
        empty={<Empty icon="credits">No credits came or went yet.</Empty>}
        columns={[
          { head: 'When', cell: (row) => <Time at={row.at} /> },
          { head: 'What', cell: ({ reason, note }) => `${REASONS[reason] ?? reason}${note ? `: ${note}` : ''}` },
          {
            head: 'Credits',
            kind: 'number',
            cell: ({ amount }) => (amount > 0 ? `+${number(amount)}` : number(amount)),
          },
          { head: 'Balance', kind: 'number', cell: (row) => number(row.balance_after) },
          { head: 'By', cell: ({ by }) => by ?? <span class="soft">–</span> },
        ]}
      />
    </Card>
  );
}
