import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { untaggedTemplates } from '../../../../endpoints/account-templates/tags/untagged.ts';
import { queryText } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { lookQuery } from '../../api/looking.ts';
import { Badge } from '../../parts/badge.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Notice } from '../../parts/notice.tsx';
import { counted } from '../../parts/number.ts';
import { Loading, PageHead } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { TagProposal } from './tag-proposal.tsx';
import { UNTAGGED_PATH } from './template.ts';

type Untagged = AnswerOf<typeof untaggedTemplates>;
type Row = Untagged['data'][number];

const STATES = {
  open: ['Not replaced', 'warn'],
  in_review: ['Tagged one in review', 'info'],
  replaced: ['Replaced', 'good'],
} as const;

/** On the list of templates: how many have to be replaced. */
export function UntaggedNotice() {
  const { data } = useLoad<Untagged>(UNTAGGED_PATH);
  if (data === undefined || data.total === 0) return null;
  return (
    <Notice tone="warn">
      {counted(data.total, 'template')} still {data.total === 1 ? 'has' : 'have'} {'{#var#}'}, which operators are
      phasing out. <a href="/dashboard/templates/untagged">See which tags fit</a>
    </Notice>
  );
}

/** The templates that have to be registered again with tags. */
export function UntaggedPage() {
  const list = useLoad<Untagged>(UNTAGGED_PATH);
  const [open, setOpen] = useState<Row>();
  const query = queryText({ format: 'csv', ...lookQuery() });
  return (
    <>
      <PageHead
        title="Templates with {#var#}"
        lead="Operators take new templates with tags only. Download the tagged ones, register them on your DLT portal, and import the portal's export. When they are approved here, their texts leave with the new id."
        back={{ href: '/dashboard/templates', label: 'Templates' }}
        actions={
          <LinkButton icon="down" href={`${UNTAGGED_PATH}${query}`} download="tagged-templates.csv">
            Download tagged templates
          </LinkButton>
        }
      />
      <Loading of={list}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon="template">Every template has tags.</Empty>
          ) : (
            <Table
              caption="Templates with {#var#}"
              rows={data}
              rowKey={({ template_id }) => template_id}
              columns={[
                {
                  head: 'Template',
                  cell: (row) => (
                    <button type="button" class="row-link" onClick={() => setOpen(row)}>
                      {row.name}
                    </button>
                  ),
                },
                {
                  head: 'Status',
                  cell: ({ state }) => <Badge tone={STATES[state][1]}>{STATES[state][0]}</Badge>,
                },
                { head: 'Slots without a tag', kind: 'number', cell: ({ untagged_slots }) => untagged_slots },
                { head: 'DLT id', cell: ({ template_id }) => <code>{template_id}</code> },
                {
                  head: 'Tagged one',
                  cell: ({ replaced_by }) => (replaced_by === null ? '–' : <code>{replaced_by}</code>),
                },
              ]}
            />
          )
        }
      </Loading>
      {open && (
        <Dialog title={open.name} side="right" onClose={() => setOpen(undefined)}>
          {open.state === 'replaced' || open.missing_senders.length === open.senders.length ? null : (
            <Notice tone="warn">The tagged one lacks {open.missing_senders.join(', ')}: add them on the portal.</Notice>
          )}
          <p class="template-text">{open.content}</p>
          <TagProposal template={open.template_id} />
        </Dialog>
      )}
    </>
  );
}
