import { useState } from 'preact/hooks';
import { post } from '../../../api/http.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { DltIdField } from '../../../parts/dlt-id.tsx';
import { Facts } from '../../../parts/facts.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form } from '../../../parts/form.tsx';
import type { FormValues } from '../../../parts/form-values.ts';
import { toast } from '../../../parts/toast.tsx';
import { type Approval, KINDS, nameOf, pathOf } from './approval.ts';

interface DecideDialogProps {
  readonly of: Approval;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** As the operators' platforms call them. */
const CTA_KINDS = { url: 'Link', app: 'App', number: 'Callback number' } as const;

const DECISIONS = [
  ['approved', 'Approve'],
  ['rejected', 'Reject'],
] as const;

/** Shows what was asked for, and takes the decision. The approval names the text that was read here. */
export function DecideDialog({ of, onClose, onDone }: DecideDialogProps) {
  const [decision, setDecision] = useState('approved');
  const isApproved = decision === 'approved';
  const needsId = isApproved && of.template !== undefined && of.template.dlt_id === null;
  const decide = async (values: FormValues) => {
    await post(pathOf(of), {
      decision,
      ...(values.optional('reason') && { reason: values.text('reason') }),
      ...(values.optional('dlt_id') && { dlt_id: values.text('dlt_id') }),
      ...(of.template && { version: of.template.version }),
      ...(of.sender && { sender_id: of.sender.sender_id }),
    });
    toast(`${nameOf(of)} is ${decision}.`);
    onDone();
    onClose();
  };
  return (
    <Dialog title={`${KINDS[of.kind]} ${nameOf(of)}`} side="right" onClose={onClose}>
      <Facts facts={factsOf(of)} />
      {of.template && <CodeBlock text={of.template.content} label="The text" />}
      <Form
        submit={isApproved ? 'Approve' : 'Reject'}
        look={isApproved ? 'primary' : 'danger'}
        onSubmit={decide}
        onCancel={onClose}
      >
        <Select name="decision" label="Decision" options={DECISIONS} value={decision} onInput={setDecision} />
        {needsId && (
          <DltIdField
            name="dlt_id"
            label="DLT template id"
            hint="The id that the operators' platform gave to the template."
          />
        )}
        <Field
          name="reason"
          label="Reason"
          optional={isApproved}
          hint={isApproved ? 'The account reads it.' : 'The account reads it. Say what it should change.'}
        />
      </Form>
    </Dialog>
  );
}

function factsOf({ account_name, sender, cta, template }: Approval): readonly (readonly [string, string])[] {
  const { routes = [], senders = [], category, entity_id } = { ...sender, ...template };
  return [
    ['Account', account_name],
    ...(cta === undefined ? [['Routes', routes.join(', ')] as const] : [['Kind', CTA_KINDS[cta.kind]] as const]),
    ...(template === undefined
      ? []
      : ([
          ['Senders', senders.join(', ')],
          ['Category', category ?? '–'],
          ['PE id', entity_id ?? "the account's own"],
          ['DLT id', template.dlt_id ?? 'none yet'],
        ] as const)),
  ];
}
