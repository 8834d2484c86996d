import { useState } from 'preact/hooks';
import { patch, remove } from '../../api/http.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { AddButton, Button } from '../../parts/button.tsx';
import { Confirm, Dialog, toast, useDialog } from '../../parts/dialog.tsx';
import { DltIdField } from '../../parts/field.tsx';
import { FilterBar, FilterSelect, useUrlFilter } from '../../parts/filter.tsx';
import { Form } from '../../parts/form.tsx';
import { Empty, Notice, PageHead, Tabs } from '../../parts/page.tsx';
import { PagedTable, RowLink } from '../../parts/table.tsx';
import { CopyId, Facts, Time } from '../../parts/value.tsx';
import { ImportDialog } from './import.tsx';
import { STATES, TABS, TEMPLATES_PATH, type Template, TemplateState } from './template.tsx';
import { TemplateForm } from './template-form.tsx';
import { TagProposal, UntaggedNotice } from './untagged.tsx';

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
  const ask = may('manage') && <AddButton onClick={() => setOpen('new')}>Request template</AddButton>;
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
        filter={filter}
        empty={
          <Empty icon="template" action={ask}>
            No templates yet. Request one, or import the export of your DLT platform.
          </Empty>
        }
        columns={[
          {
            head: 'Template',
            cell: (row) => <RowLink onClick={() => setOpen(row)}>{row.name}</RowLink>,
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

interface TemplatePanelProps {
  readonly of: Template;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One DLT template, and what can be done about it. */
function TemplatePanel({ of, onClose, onChange }: TemplatePanelProps) {
  const [edits, setEdits] = useState(false);
  const [dialog, open] = useDialog();
  const path = `${TEMPLATES_PATH}/${of.template_id}`;
  if (edits) return <TemplateForm of={of} onClose={() => setEdits(false)} onDone={onChange} />;
  const drop = () =>
    open(
      <Confirm
        title={`Delete ${of.name}?`}
        act="Delete template"
        onConfirm={async () => {
          const { message } = await remove<{ message: string }>(path);
          onChange();
          return message;
        }}
      >
        Messages with its text are refused from then on, also those that wait.
      </Confirm>,
    );
  return (
    <Dialog title={of.name} side="right" onClose={onClose}>
      {of.reason !== null && <Notice tone="bad">{of.reason}</Notice>}
      <Facts
        facts={[
          ['Status', <TemplateState of={{ ...of, reason: null }} />],
          ['DLT id', of.dlt_id === null ? 'none yet' : <CopyId id={of.dlt_id} />],
          ['Senders', of.senders.join(', ')],
          ['Category', of.category ?? '–'],
          ['Routes', of.routes.join(', ')],
          ['Requested', <Time at={of.requested_at} full />],
          ['Decided', <Time at={of.decided_at} none="not yet" full />],
        ]}
      />
      <p class="template-text">{of.content}</p>
      {of.state === 'approved' && of.content.includes('{#var#}') && <TagProposal template={of.template_id} />}
      {may('manage') && of.state === 'requested' && (
        <Form
          submit="Add DLT id"
          look="plain"
          onSubmit={async (values) => {
            await patch(path, { dlt_id: values.text('dlt_id') });
            onChange();
            toast('DLT id added. The template is in review now.');
          }}
        >
          <DltIdField name="dlt_id" label="DLT template id" hint="When the platform has given it." />
        </Form>
      )}
      {may('manage') && (
        <div class="acts">
          {of.state === 'rejected' && <Button onClick={() => setEdits(true)}>Edit and resend</Button>}
          <Button look="danger" onClick={drop}>
            Delete template
          </Button>
        </div>
      )}
      {dialog}
    </Dialog>
  );
}
