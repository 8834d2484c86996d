import { useState } from 'preact/hooks';
import type { EntryOf } from '../../../../api/endpoint.ts';
import type { approvals } from '../../../../endpoints/approvals/approvals.ts';
import { post } from '../../api/http.ts';
import { usePages } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { FilterAccount } from '../../parts/account.tsx';
import { DltIdField, Field, Select } from '../../parts/field.tsx';
import { FormDialog, type FormValues, useDialog } from '../../parts/form.tsx';
import { ListPage, useUrlFilter } from '../../parts/list.tsx';
import { CodeBlock, counted, type Fact, Facts, Time } from '../../parts/value.tsx';

export function ApprovalsPage() {
  const filter = useUrlFilter('account_id');
  const list = usePages<Approval>('/v2/admin/approvals', filter.values);
  const [dialog, open] = useDialog();
  const decide = (row: Approval) => open(<DecideDialog of={row} onDone={list.reload} />);
  return (
    <ListPage
      title="Approvals"
      lead={
        filter.isSet
          ? 'All that this account asked for, the oldest first.'
          : 'Senders, links and numbers, and DLT templates that accounts asked for: of each account the oldest few.'
      }
      list={list}
      filter={filter}
      filters={<FilterAccount filter={filter} />}
      rowKey={keyOf}
      icon="check"
      empty="Nothing waits for a decision."
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
              {counted(account_waiting, 'decision')} <span class="hidden">of {account_name}</span>
            </a>
          ),
        },
        { head: 'Kind', cell: ({ kind }) => KINDS[kind] },
        { head: 'What', cell: (row) => <span class="long">{nameOf(row)}</span> },
      ]}
      acts={may('admin:support') && ((row) => [['Decide', nameOf(row), () => decide(row)]])}
      after={dialog}
    />
  );
}

interface DecideDialogProps {
  readonly of: Approval;
  readonly onDone: () => void;
}

/** The operators' platforms' names for the kinds. */
const CTA_KINDS = { url: 'Link', app: 'App', number: 'Callback number' } as const;

const DECISIONS = [
  ['approved', 'Approve'],
  ['rejected', 'Reject'],
] as const;

/** Shows the request and takes the decision, which names the text shown here. */
function DecideDialog({ of, onDone }: DecideDialogProps) {
  const [decision, setDecision] = useState('approved');
  const isApproved = decision === 'approved';
  const needsId = isApproved && of.template !== undefined && of.template.dlt_id === null;
  const decide = async (values: FormValues) => {
    await post(pathOf(of), {
      decision,
      reason: values.optional('reason'),
      dlt_id: values.optional('dlt_id'),
      version: of.template?.version,
      sender_id: of.sender?.sender_id,
    });
    onDone();
    return `${nameOf(of)} is ${decision}.`;
  };
  return (
    <FormDialog
      title={`${KINDS[of.kind]} ${nameOf(of)}`}
      side="right"
      submit={isApproved ? 'Approve' : 'Reject'}
      look={isApproved ? 'primary' : 'danger'}
      onSubmit={decide}
    >
      <Facts facts={factsOf(of)} />
      {of.template && <CodeBlock text={of.template.content} label="The text" />}
      <Select name="decision" label="Decision" options={DECISIONS} value={decision} onInput={setDecision} />
      {needsId && (
        <DltIdField name="dlt_id" label="DLT template id">
          The id that the operators' platform gave to the template.
        </DltIdField>
      )}
      <Field name="reason" label="Reason" optional={isApproved}>
        {isApproved ? 'The account reads it.' : 'The account reads it. Say what it should change.'}
      </Field>
    </FormDialog>
  );
}

function factsOf({ account_name, sender, cta, template }: Approval): readonly Fact[] {
  const { routes = [], senders = [], category, entity_id } = { ...sender, ...template };
  return [
    ['Account', account_name],
    cta === undefined ? ['Routes', routes.join(', ')] : ['Kind', CTA_KINDS[cta.kind]],
    ['Senders', template && senders.join(', ')],
    ['Category', template && (category ?? '–')],
    ['PE id', template && (entity_id ?? "the account's own")],
    ['DLT id', template && (template.dlt_id ?? 'none yet')],
  ];
}

type Approval = EntryOf<typeof approvals>;

const KINDS = { sender: 'Sender', cta: 'Link or number', template: 'DLT template' } as const;

function nameOf({ sender, cta, template }: Approval): string {
  return sender?.sender ?? cta?.value ?? template?.name ?? '';
}

function keyOf({ account_id, sender, cta, template }: Approval): string {
  return `${account_id} ${sender?.sender ?? cta?.cta_id ?? template?.template_id}`;
}

function pathOf({ account_id, sender, cta, template }: Approval): string {
  const account = `/v2/admin/accounts/${account_id}`;
  if (cta !== undefined) return `${account}/ctas/${cta.cta_id}/decision`;
  return sender === undefined
    ? `${account}/templates/${template?.template_id}/decision`
    : `${account}/senders/${encodeURIComponent(sender.sender)}/decision`;
}
