import { useEffect, useState } from 'preact/hooks';
import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { accountTemplates, checkTemplate } from '../../../endpoints/account-templates/templates.ts';
import { create, patch, post, remove } from '../api/http.ts';
import { usePages } from '../api/load.ts';
import { may } from '../api/session.ts';
import { DltIdField, Field, Select, TextArea } from '../parts/field.tsx';
import { Confirm, Dialog, Form, FormDialog, type FormValues, toast, useDialog } from '../parts/form.tsx';
import { FilterSelect, ListPage, RowLink, useUrlFilter } from '../parts/list.tsx';
import { Notice, Tabs } from '../parts/page.tsx';
import { AddButton, Badge, Button, CopyId, counted, Facts, number, Time, type Tone } from '../parts/value.tsx';
import { Phone } from './chat-template.tsx';
import { useOwnSenders } from './senders.tsx';
import { ImportDialog } from './template-import.tsx';
import { TagProposal, UntaggedNotice } from './template-tags.tsx';

export function TemplatesPage() {
  const filter = useUrlFilter('state');
  const list = usePages<Template>(TEMPLATES_PATH, filter.values);
  const [open, setOpen] = useState<'new' | 'import' | Template>();
  const close = () => setOpen(undefined);
  const changed = () => {
    close();
    list.reload();
  };
  return (
    <ListPage
      title="Templates"
      lead="Texts that you may send. Each is on the operators' DLT platform, and we approve it here."
      actions={may('manage') && <Button onClick={() => setOpen('import')}>Import DLT export</Button>}
      next={may('manage') && <AddButton onClick={() => setOpen('new')}>Request template</AddButton>}
      list={list}
      filter={filter}
      filters={<FilterSelect filter={filter} name="state" label="Status" options={STATES} />}
      caption="DLT templates"
      rowKey={({ template_id }) => template_id}
      icon="template"
      empty="No templates yet. Request one, or import the export of your DLT platform."
      columns={[
        { head: 'Template', cell: (row) => <RowLink onClick={() => setOpen(row)}>{row.name}</RowLink> },
        { head: 'Status', cell: (row) => <TemplateState of={row} /> },
        { head: 'Senders', cell: ({ senders }) => senders.join(', ') },
        { head: 'DLT id', cell: ({ dlt_id }) => (dlt_id === null ? '–' : <code>{dlt_id}</code>) },
        { head: 'Requested', cell: ({ requested_at }) => <Time at={requested_at} /> },
      ]}
      after={
        <>
          {open === 'new' && <TemplateForm onClose={close} onDone={changed} />}
          {open === 'import' && <ImportDialog onClose={close} onDone={list.reload} />}
          {typeof open === 'object' && <TemplatePanel of={open} onClose={close} onChange={changed} />}
        </>
      }
    >
      <Tabs label="Channels" tabs={TABS} />
      <UntaggedNotice />
    </ListPage>
  );
}

interface TemplatePanelProps {
  readonly of: Template;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

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
          <DltIdField name="dlt_id" label="DLT template id">
            When the platform has given it.
          </DltIdField>
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

interface TemplateFormProps {
  /** The rejected template to edit; absent for a new one. */
  readonly of?: Template;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Requests a template, or a rejected one with new text, which is checked while typing. */
function TemplateForm({ of, onClose, onDone }: TemplateFormProps) {
  const [content, setContent] = useState(of?.content ?? '');
  const [senders, setSenders] = useState<string>();
  const own = useOwnSenders();
  const [only, ...others] = own;
  const send = async (values: FormValues) => {
    const text = {
      name: values.optional('name'),
      senders: values
        .text('senders')
        .split(/[\s,]+/)
        .filter(Boolean),
      category: values.text('category'),
      content: values.exact('content'),
    };
    if (of === undefined) await create(TEMPLATES_PATH, { ...text, dlt_id: values.optional('dlt_id') });
    else await patch(`${TEMPLATES_PATH}/${of.template_id}`, text);
    onDone();
    return of === undefined ? 'Template requested.' : 'Template sent again.';
  };
  return (
    <FormDialog
      title={of === undefined ? 'Request a DLT template' : `Edit ${of.name}`}
      side="right"
      onClose={onClose}
      submit={of === undefined ? 'Request template' : 'Edit and resend'}
      of={of}
      onSubmit={send}
    >
      <Field
        name="senders"
        label="Senders"
        value={senders ?? of?.senders.join(', ') ?? (others.length === 0 ? only?.sender : undefined) ?? ''}
        onInput={setSenders}
        offers={own.map(({ sender }) => sender)}
      >
        The headers of the DLT platform, such as HARKRA. Several with commas.
      </Field>
      <Select name="category" label="Category" options={CATEGORIES}>
        The one that the DLT platform shows.
      </Select>
      <TextArea name="content" label="Text" rows={5} value={content} onInput={setContent}>
        {'Exactly as on the DLT platform. What changes is a slot: {#var#}, {#numeric#}, {#url#} …'}
      </TextArea>
      <CheckResult content={content} />
      <Field name="name" label="Name" optional>
        For your people.
      </Field>
      {of === undefined && (
        <DltIdField name="dlt_id" label="DLT template id" optional>
          If the platform has not given it yet, add it later.
        </DltIdField>
      )}
      <Phone title="SMS" body={content.replaceAll(/\{#\w+#\}/g, '▁▁▁▁')} />
    </FormDialog>
  );
}

/** The text is checked after this pause in typing. */
const REST_MS = 300;

/** The gateway's view of a text as a template. */
function CheckResult({ content }: { readonly content: string }) {
  const [check, setCheck] = useState<TemplateCheck>();
  useEffect(() => {
    if (content === '') {
      setCheck(undefined);
      return;
    }
    let over = false;
    const timer = setTimeout(() => {
      post<TemplateCheck>(`${TEMPLATES_PATH}/check`, { content }).then(
        (found) => {
          if (!over) setCheck(found);
        },
        () => {}, // The request itself reports what is wrong.
      );
    }, REST_MS);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [content]);
  return (
    <div class="check" role="status">
      {check === undefined ? (
        <span class="soft">Slots and segments are counted as you type.</span>
      ) : (
        <Found of={check} />
      )}
    </div>
  );
}

function Found({ of }: { readonly of: TemplateCheck }) {
  const { shortest, longest } = of.segments;
  const segments = shortest === longest ? number(shortest) : `${shortest} to ${longest}`;
  return (
    <>
      <p>
        {number(of.characters)}/2,000 characters · {of.encoding} · {segments} segment{longest === 1 ? '' : 's'} ·{' '}
        {counted(of.slots.length, 'slot')}
      </p>
      {of.slots.map(({ takes, longest: most }, i) => (
        <p class="soft" key={i}>
          Slot {i + 1}: {takes}, at most {most} characters
        </p>
      ))}
      {of.problems.map(({ at, detail }) => (
        <p class="error" key={`${at} ${detail}`}>
          {detail}
        </p>
      ))}
    </>
  );
}

export type Template = EntryOf<typeof accountTemplates>;
type TemplateCheck = AnswerOf<typeof checkTemplate>;

const STATE_WORDS: Readonly<Record<Template['state'], readonly [words: string, tone: Tone]>> = {
  requested: ['Waits for its DLT id', 'warn'],
  submitted: ['In review', 'info'],
  approved: ['Approved', 'good'],
  rejected: ['Rejected', 'bad'],
};

const CATEGORIES = [
  ['service_implicit', 'Service implicit'],
  ['service_explicit', 'Service explicit'],
  ['transactional', 'Transactional (banks)'],
  ['promotional', 'Promotional'],
] as const;

const STATES = Object.entries(STATE_WORDS).map(([state, [words]]) => [state, words] as const);
const TEMPLATES_PATH = '/v2/account/templates';

export const TABS = [
  { href: '/dashboard/templates', label: 'SMS (DLT)' },
  { href: '/dashboard/templates/chatapp', label: 'Chat-app' },
] as const;

function TemplateState({ of }: { readonly of: Template }) {
  const [words, tone] = STATE_WORDS[of.state];
  return (
    <>
      <Badge tone={tone}>{words}</Badge>
      {of.paused && <Badge tone="warn">Paused</Badge>}
      {of.reason !== null && <span class="state-note">{of.reason}</span>}
    </>
  );
}
