import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { untaggedTemplate, untaggedTemplates } from '../../../endpoints/account-templates/untagged.ts';
import { lookQuery, queryText } from '../api/http.ts';
import { useLoad } from '../api/load.ts';
import { Select } from '../parts/field.tsx';
import { Dialog, useDialog } from '../parts/form.tsx';
import { RowLink, Table } from '../parts/list.tsx';
import { Empty, Loading, Notice, PageHead } from '../parts/page.tsx';
import { Badge, counted, Facts, LinkButton, number, Time } from '../parts/value.tsx';

const PATH = '/v2/account/untagged-templates';

type Untagged = AnswerOf<typeof untaggedTemplates>;
type Row = Untagged['data'][number];

const STATES = {
  open: ['Not replaced', 'warn'],
  in_review: ['Tagged one in review', 'info'],
  replaced: ['Replaced', 'good'],
} as const;

/** How many templates still need tags. */
export function UntaggedNotice() {
  const { data } = useLoad<Untagged>(PATH);
  if (data === undefined || data.total === 0) return null;
  return (
    <Notice tone="warn">
      {counted(data.total, 'template')} still {data.total === 1 ? 'has' : 'have'} {'{#var#}'}, which operators are
      phasing out. <a href="/dashboard/templates/untagged">See which tags fit</a>
    </Notice>
  );
}

export function UntaggedPage() {
  const list = useLoad<Untagged>(PATH);
  const [dialog, open] = useDialog();
  const query = queryText({ format: 'csv', ...lookQuery() });
  return (
    <>
      <PageHead
        title="Templates with {#var#}"
        lead="Operators take new templates with tags only. Download the tagged ones, register them on your DLT portal, and import the portal's export. When they are approved here, their texts leave with the new id."
        back={{ href: '/dashboard/templates', label: 'Templates' }}
        actions={
          <LinkButton icon="down" href={`${PATH}${query}`} download="tagged-templates.csv">
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
                  cell: (row) => <RowLink onClick={() => open(<RowDialog of={row} />)}>{row.name}</RowLink>,
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
      {dialog}
    </>
  );
}

function RowDialog({ of }: { readonly of: Row }) {
  return (
    <Dialog title={of.name} side="right">
      {of.state === 'replaced' || of.missing_senders.length === of.senders.length ? null : (
        <Notice tone="warn">The tagged one lacks {of.missing_senders.join(', ')}: add them on the portal.</Notice>
      )}
      <p class="template-text">{of.content}</p>
      <TagProposal template={of.template_id} />
    </Dialog>
  );
}

type Proposal = AnswerOf<typeof untaggedTemplate>;

const PERCENTS = [100, 99, 95, 90, 75, 50];
const PERCENT = 99;

/** Tags that fit the values sent with a template, and the messages that those tags would have refused. */
export function TagProposal({ template }: { readonly template: string }) {
  const [percent, setPercent] = useState(PERCENT);
  const proposal = useLoad<Proposal>(`${PATH}/${template}`, { percent: String(percent) });
  return (
    <section class="stack" aria-label="Proposed tags">
      <h3>Proposed tags</h3>
      <Select
        name="percent"
        label="A tag takes at least"
        options={PERCENTS.map((one) => [String(one), `${one} % of the values`])}
        value={String(percent)}
        onInput={(one) => setPercent(Number(one))}
      />
      <Loading of={proposal}>{(data) => <Proposed of={data} />}</Loading>
    </section>
  );
}

function Proposed({ of }: { readonly of: Proposal }) {
  return (
    <>
      <p class="template-text">{of.tagged_content}</p>
      {of.known_days < 90 && (
        <Notice>Texts are kept for {counted(of.known_days, 'day')} only, so no older values are known.</Notice>
      )}
      <Facts
        facts={[
          ...of.slots.map((slot) => [`Slot ${slot.number}`, slotWords(slot, of.messages)] as const),
          ['Rests on', counted(of.messages, 'message')],
          ['Sent in the last 90 days', number(of.messages_counted)],
          ['Oldest of them', <Time at={of.oldest} none="–" />],
          ['Would be refused', counted(of.refused, 'message')],
        ]}
      />
      {of.examples.map(({ message_id, text, slots }) => (
        <p key={message_id}>
          <a href={`/dashboard/messages/${message_id}`}>{text ?? message_id}</a>{' '}
          <span class="state-note">{slots.length === 1 ? `slot ${slots[0]}` : `slots ${slots.join(', ')}`}</span>
        </p>
      ))}
    </>
  );
}

function slotWords({ tag, takes, touches }: Proposal['slots'][number], messages: number): string {
  if (touches) return 'No tag: it touches another slot. Put text between them.';
  if (messages === 0) return 'No tag: nothing was sent with it.';
  if (tag !== null) return `{#${tag}#}, takes ${number(takes[tag])} of ${counted(messages, 'value')}`;
  const { urlott, cbn, ...forms } = takes; // They have the forms of url and numeric.
  const [best, most] = Object.entries(forms).reduce((one, other) => (other[1] > one[1] ? other : one));
  return most === 0
    ? 'No tag takes these values: change the text, or what you send.'
    : `No tag takes so many. The most: {#${best}#}, ${number(most)} of ${number(messages)}.`;
}
