import { useState } from 'preact/hooks';
import { usePages } from '../../../api/pages.ts';
import { may } from '../../../api/session.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Empty, NoResults } from '../../../parts/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../../parts/filter.tsx';
import { number } from '../../../parts/number.ts';
import { PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { useUrlFilter } from '../../../parts/url-filter.ts';
import { type Account, STATUS_TONES } from './account.ts';
import { CreateAccountDialog } from './create-account.tsx';

const STATUSES = [
  ['active', 'Active'],
  ['paused', 'Paused'],
  ['suspended', 'Suspended'],
] as const;

/** All accounts of the installation. */
export function AccountsPage() {
  const filter = useUrlFilter('search', 'status');
  const list = usePages<Account>('/v2/admin/accounts', filter.values);
  const [creating, setCreating] = useState(false);
  const create = may('admin:support') && (
    <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
      Create account
    </Button>
  );
  return (
    <>
      <PageHead title="Accounts" lead="The customers of this installation." actions={create} />
      <FilterBar filter={filter}>
        <FilterText filter={filter} name="search" label="Name or id" placeholder="Asha, acc_01k…" />
        <FilterSelect filter={filter} name="status" label="Status" options={STATUSES} />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Accounts"
        rowKey={({ account_id }) => account_id}
        empty={
          filter.isSet ? (
            <NoResults clear={filter.clear} />
          ) : (
            <Empty icon="accounts">No accounts yet. Create one, then top it up.</Empty>
          )
        }
        columns={[
          { head: 'Name', cell: (row) => <a href={`/dashboard/admin/accounts/${row.account_id}`}>{row.name}</a> },
          { head: 'Status', cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{status}</Badge> },
          { head: 'Credits', kind: 'number', cell: ({ balance }) => number(balance) },
          { head: 'Until', cell: ({ expiry_date }) => expiry_date },
          { head: 'Made', cell: (row) => <Time at={row.created_at} /> },
        ]}
      />
      {creating && <CreateAccountDialog onClose={() => setCreating(false)} />}
    </>
  );
}
