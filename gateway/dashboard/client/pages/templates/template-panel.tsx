import { useState } from 'preact/hooks';
import { patch, remove } from '../../api/http.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DltIdField } from '../../parts/dlt-id.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Form } from '../../parts/form.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { TagProposal } from './tag-proposal.tsx';
import { TEMPLATES_PATH, type Template } from './template.ts';
import { TemplateForm } from './template-form.tsx';
import { TemplateState } from './template-state.tsx';

interface TemplatePanelProps {
  readonly of: Template;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One DLT template, and what can be done about it. */
export function TemplatePanel({ of, onClose, onChange }: TemplatePanelProps) {
  const [asked, setAsked] = useState<'edit' | 'remove'>();
  const path = `${TEMPLATES_PATH}/${of.template_id}`;
  if (asked === 'edit') return <TemplateForm of={of} onClose={() => setAsked(undefined)} onDone={onChange} />;
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
          {of.state === 'rejected' && <Button onClick={() => setAsked('edit')}>Edit and resend</Button>}
          <Button look="danger" onClick={() => setAsked('remove')}>
            Delete template
          </Button>
        </div>
      )}
      {asked === 'remove' && (
        <Confirm
          title={`Delete ${of.name}?`}
          act="Delete template"
          onConfirm={async () => {
            const { message } = await remove<{ message: string }>(path);
            onChange();
            toast(message);
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>Messages with its text are refused from then on, also those that wait.</p>
        </Confirm>
      )}
    </Dialog>
  );
}
