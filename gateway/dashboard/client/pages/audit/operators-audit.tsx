import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { AccountLink, FilterAccount } from '../../parts/account.tsx';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterText, FilterTime } from '../../parts/filter.tsx';
import { PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { type AuditEntry, subjectOf } from './audit-entry.ts';
import { EntryDialog } from './entry-dialog.tsx';

/** As `GET /v2/admin/audit` shows it: the operator's command is named too. */
type Entry = AuditEntry & { readonly account_id: string | null };

/** Who changed what, of all accounts and of what belongs to none. */
export function OperatorsAuditPage() {
  const filter = useUrlFilter('account_id', 'subject', 'since', 'until');
  const list = usePages<Entry>('/v2/admin/audit', filter.values);
  const [shown, setShown] = useState<Entry>();
  return (
    <>
      <PageHead
        title="Audit of everything"
        lead="Who changed what, from where, and when, in all accounts and carriers."
      />
      <FilterBar filter={filter}>
        <FilterAccount filter={filter} />
        <FilterText filter={filter} name="subject" label="What" placeholder="carrier:airtel or key:01k…" />
        <FilterTime filter={filter} name="since" label="From" />
        <FilterTime filter={filter} name="until" label="Before" />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Audit of everything"
        rowKey={({ audit_id }) => audit_id}
        empty={filter.isSet ? <NoResults clear={filter.clear} /> : <Empty icon="audit">Nothing was changed yet.</Empty>}
        columns={[
          { head: 'When', cell: (row) => <Time at={row.at} /> },
          { head: 'Who', cell: ({ actor }) => actor.name ?? `${actor.kind} ${actor.id}` },
          { head: 'From', cell: ({ actor }) => actor.address ?? '–' },
          {
            head: 'What',
            cell: (row) => (
              <button type="button" class="row-link" onClick={() => setShown(row)}>
                {row.action}
              </button>
            ),
          },
          { head: 'Of', cell: (row) => <span title={row.subject.id ?? ''}>{subjectOf(row)}</span> },
          {
            head: 'Account',
            cell: ({ account_id: id }) => (id === null ? '–' : <AccountLink id={id} />),
          },
        ]}
      />
      {shown && <EntryDialog of={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}
