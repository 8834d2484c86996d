import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../parts/filter.tsx';
import { PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { type AuditEntry, subjectOf, whoOf } from './audit-entry.ts';
import { EntryDialog } from './entry-dialog.tsx';

const WHO = [
  ['user', 'Users'],
  ['key', 'API keys'],
  ['ops', 'Your service provider'],
] as const;

/** Who changed what of the account's settings. */
export function AuditPage() {
  const filter = useUrlFilter('actor', 'subject');
  const list = usePages<AuditEntry>('/v2/account/audit', filter.values);
  const [shown, setShown] = useState<AuditEntry>();
  return (
    <>
      <PageHead title="Audit" lead="Who changed what of the account's settings, from where, and when." />
      <FilterBar filter={filter}>
        <FilterSelect filter={filter} name="actor" label="By" options={WHO} />
        <FilterText filter={filter} name="subject" label="What" placeholder="key:01k… or webhook:whk_…" />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Audit"
        rowKey={({ audit_id }) => audit_id}
        empty={filter.isSet ? <NoResults clear={filter.clear} /> : <Empty icon="audit">Nothing was changed yet.</Empty>}
        columns={[
          { head: 'When', cell: (row) => <Time at={row.at} /> },
          { head: 'Who', cell: whoOf },
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
          { head: 'Outcome', cell: ({ outcome }) => (outcome === 'begun' ? 'perhaps done' : outcome) },
        ]}
      />
      {shown && <EntryDialog of={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}
