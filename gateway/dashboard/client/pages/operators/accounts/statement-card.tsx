import { useLocation } from 'preact-iso/router';
import type { EntryOf } from '../../../../../api/endpoint.ts';
import type { accountLedger } from '../../../../../endpoints/accounts/credits.ts';
import type { Looked } from '../../../api/looking.ts';
import { usePages } from '../../../api/pages.ts';
import { lookAt, may } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { number } from '../../../parts/number.ts';
import { Card } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';

/** As `GET /v2/admin/accounts/{account_id}/ledger` shows it. */
type Entry = EntryOf<typeof accountLedger>;

const REASONS: Readonly<Record<string, string>> = {
  send: 'Messages',
  conversation: 'Conversation',
  top_up: 'Top-up',
  refund: 'Refund',
  correction: 'Correction',
};

export function StatementCard({ account }: { readonly account: Looked }) {
  const { route } = useLocation();
  const list = usePages<Entry>(`/v2/admin/accounts/${account.account_id}/ledger`, { limit: 10 });
  const explain = may('admin:look') && (
    <Button
      onClick={() => {
        lookAt(account);
        route('/dashboard/credits');
      }}
    >
      With its messages
    </Button>
  );
  return (
    <Card title="Statement" actions={explain}>
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
          { head: 'By', cell: ({ by, by_name }) => (by === null ? '–' : <span title={by}>{by_name ?? by}</span>) },
        ]}
      />
    </Card>
  );
}
