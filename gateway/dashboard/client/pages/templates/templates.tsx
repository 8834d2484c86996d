import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';

import { Button } from '../../parts/button.tsx';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterSelect } from '../../parts/filter.tsx';
import { PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Time } from '../../parts/time.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { ImportDialog } from './import.tsx';
import { STATES, TABS, TEMPLATES_PATH, type Template } from './template.ts';
import { TemplateForm } from './template-form.tsx';
import { TemplatePanel } from './template-panel.tsx';
import { TemplateState } from './template-state.tsx';
import { UntaggedNotice } from './untagged.tsx';

/** DLT templates of the account. */
export function TemplatesPage() {
  const filter = useUrlFilter('state');
  const list = usePages<Template>(TEMPLATES_PATH, filter.values);
  const [open, setOpen] = useState<'new' | 'import' | Template>();
  const close = () => setOpen(undefined);
  const changed = () => {
    close();
    list.reload();
  };
  const ask = may('manage') && (
    <Button look="primary" icon="plus" onClick={() => setOpen('new')}>
      Request template
    </Button>
  );
  return (
    <>
      <PageHead
        title="Templates"
        lead="Texts that you may send. Each is on the operators' DLT platform, and we approve it here."
        actions={
          <>
            {may('manage') && <Button onClick={() => setOpen('import')}>Import DLT export</Button>}
            {ask}
          </>
        }
      />
      <Tabs label="Channels" tabs={TABS} />
      <UntaggedNotice />
      <FilterBar filter={filter}>
        <FilterSelect filter={filter} name="state" label="Status" options={STATES} />
      </FilterBar>
      <PagedTable
        list={list}
        caption="DLT templates"
        rowKey={({ template_id }) => template_id}
        empty={
          filter.isSet ? (
            <NoResults clear={filter.clear} />
          ) : (
            <Empty icon="template" action={ask}>
              No templates yet. Request one, or import the export of your DLT platform.
            </Empty>
          )
        }
        columns={[
          {
            head: 'Template',
            cell: (row) => (
              <button type="button" class="row-link" onClick={() => setOpen(row)}>
                {row.name}
              </button>
            ),
          },
          { head: 'Status', cell: (row) => <TemplateState of={row} /> },
          { head: 'Senders', cell: ({ senders }) => senders.join(', ') },
          { head: 'DLT id', cell: ({ dlt_id }) => (dlt_id === null ? '–' : <code>{dlt_id}</code>) },
          { head: 'Requested', cell: ({ requested_at }) => <Time at={requested_at} /> },
        ]}
      />
      {open === 'new' && <TemplateForm onClose={close} onDone={changed} />}
      {open === 'import' && <ImportDialog onClose={close} onDone={list.reload} />}
      {typeof open === 'object' && <TemplatePanel of={open} onClose={close} onChange={changed} />}
    </>
  );
}
