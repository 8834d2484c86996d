import { useState } from 'preact/hooks';
import { usePages } from '../../../api/pages.ts';
import { may } from '../../../api/session.ts';
import { FilterAccount } from '../../../parts/account.tsx';
import { Button } from '../../../parts/button.tsx';
import { Empty, NoResults } from '../../../parts/empty.tsx';
import { FilterBar } from '../../../parts/filter.tsx';
import { number } from '../../../parts/number.ts';
import { PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useUrlFilter } from '../../../parts/url-filter.ts';
import { type Approval, KINDS, keyOf, nameOf } from './approval.ts';
import { DecideDialog } from './decide-dialog.tsx';

/** Senders, CTAs and DLT templates that accounts asked for. */
export function ApprovalsPage() {
  const filter = useUrlFilter('account_id');
  const list = usePages<Approval>('/v2/admin/approvals', filter.values);
  const [shown, setShown] = useState<Approval>();
  const lead = filter.isSet
    ? 'All that this account asked for, the oldest first.'
    : 'Senders, links and numbers, and DLT templates that accounts asked for: of each account the oldest few.';
  return (
    <>
      <PageHead title="Approvals" lead={lead} />
      <FilterBar filter={filter}>
        <FilterAccount filter={filter} />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Approvals"
        rowKey={keyOf}
        empty={
          filter.isSet ? <NoResults clear={filter.clear} /> : <Empty icon="check">Nothing waits for a decision.</Empty>
        }
        columns={[
          { head: 'Waiting since', cell: (row) => <Time at={row.requested_at} /> },
          {
            head: 'Account',
            cell: (row) => <a href={`/dashboard/admin/accounts/${row.account_id}`}>{row.account_name}</a>,
          },
          {
            head: 'It waits for',
            cell: ({ account_id, account_name, account_waiting }) => (
              <a href={`/dashboard/admin/approvals?account_id=${account_id}`}>
                {number(account_waiting)} {account_waiting === 1 ? 'decision' : 'decisions'}{' '}
                <span class="hidden">of {account_name}</span>
              </a>
            ),
          },
          { head: 'Kind', cell: ({ kind }) => KINDS[kind] },
          { head: 'What', cell: (row) => <span class="long">{nameOf(row)}</span> },
          ...(may('admin:support')
            ? [
                {
                  head: 'Actions',
                  kind: 'actions' as const,
                  cell: (row: Approval) => (
                    <Button look="quiet" onClick={() => setShown(row)}>
                      Decide <span class="hidden">{nameOf(row)}</span>
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {shown && <DecideDialog of={shown} onClose={() => setShown(undefined)} onDone={list.reload} />}
    </>
  );
}
