import { useState } from 'preact/hooks';
import { useLoad } from '../../../api/load.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { Loading, PageHead } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { type Approval, keyOf, nameOf } from './approval.ts';
import { DecideDialog } from './decide-dialog.tsx';

interface Waiting {
  readonly approvals: readonly Approval[];
  readonly more: boolean;
}

/** Senders and DLT templates that accounts asked for. */
export function ApprovalsPage() {
  const loaded = useLoad<Waiting>('/v2/admin/approvals');
  const [shown, setShown] = useState<Approval>();
  return (
    <>
      <PageHead title="Approvals" lead="Senders and DLT templates that accounts asked for, the oldest first." />
      <Loading of={loaded}>
        {({ approvals, more }) => (
          <>
            {more && <Notice>More wait than are shown here. Decide these first.</Notice>}
            {approvals.length === 0 ? (
              <Empty icon="check">Nothing waits for a decision.</Empty>
            ) : (
              <Table
                caption="Approvals"
                rows={approvals}
                rowKey={keyOf}
                columns={[
                  { head: 'Waiting since', cell: (row) => <Time at={row.requested_at} /> },
                  {
                    head: 'Account',
                    cell: (row) => <a href={`/dashboard/admin/accounts/${row.account_id}`}>{row.account_name}</a>,
                  },
                  { head: 'Kind', cell: ({ kind }) => (kind === 'sender' ? 'Sender' : 'DLT template') },
                  { head: 'What', cell: nameOf },
                  {
                    head: 'Actions',
                    kind: 'actions',
                    cell: (row) => (
                      <Button look="quiet" onClick={() => setShown(row)}>
                        Decide <span class="hidden">{nameOf(row)}</span>
                      </Button>
                    ),
                  },
                ]}
              />
            )}
          </>
        )}
      </Loading>
      {shown && <DecideDialog of={shown} onClose={() => setShown(undefined)} onDone={loaded.reload} />}
    </>
  );
}
