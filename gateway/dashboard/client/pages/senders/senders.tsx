import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { senders } from '../../../../endpoints/senders/senders.ts';
import { create, remove } from '../../api/http.ts';
import { useLoad } from '../../api/load.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { AddButton } from '../../parts/button.tsx';
import { Confirm, FormDialog, useDialog } from '../../parts/dialog.tsx';
import { Checkboxes, Field } from '../../parts/field.tsx';
import { Empty, PageHead } from '../../parts/page.tsx';
import { PagedTable } from '../../parts/table.tsx';
import { Badge, Time } from '../../parts/value.tsx';

type Sender = EntryOf<typeof senders>;

const PATH = '/v2/account/senders';
const STATES = {
  submitted: ['In review', 'info'],
  approved: ['Approved', 'good'],
  rejected: ['Rejected', 'bad'],
} as const;
const ROUTES = [
  { value: 'transactional', label: 'Transactional', hint: 'What a customer waits for: orders, codes.' },
  { value: 'promotional', label: 'Promotional', hint: 'Advertising.' },
];

/** As many as a list offers. */
const READ = 500;

/** The senders that the account may use, by name. */
export function useOwnSenders(): readonly Sender[] {
  const { data } = useLoad<AnswerOf<typeof senders>>(PATH, { limit: READ });
  return data?.data.filter(({ state }) => state === 'approved') ?? [];
}

/** What recipients see as the sender, and whether it may be used. */
export function SendersPage() {
  const list = usePages<Sender>(PATH);
  const [dialog, open] = useDialog();
  const request = () =>
    open(
      <FormDialog
        title="Request a sender"
        submit="Request sender"
        onSubmit={async (values) => {
          await create(PATH, { sender: values.text('sender'), routes: values.all('routes') });
          list.reload();
          return 'Sender requested. It can be used when it is approved.';
        }}
      >
        <Field
          name="sender"
          label="Sender"
          mono
          hint="1 to 11 characters with a letter, or 3 to 15 digits. Exactly as recipients shall see it; with DLT, as on its platform."
        />
        <Checkboxes name="routes" legend="For" options={ROUTES} initial={['transactional']} />
      </FormDialog>,
    );
  const drop = ({ sender_id: id, sender, state }: Sender) =>
    open(
      <Confirm
        title={`Remove the sender ${sender}?`}
        act="Remove sender"
        typed={state === 'approved' ? sender : undefined}
        onConfirm={async () => {
          await remove(`${PATH}/${id}`);
          list.reload();
          return `${sender} is removed.`;
        }}
      >
        Messages with it are refused within seconds. To use it again it must be approved again.
      </Confirm>,
    );
  const ask = may('manage') && <AddButton onClick={request}>Request sender</AddButton>;
  return (
    <>
      <PageHead
        title="Senders"
        lead="What recipients see as the sender of an SMS. Your service provider approves each."
        actions={ask}
      />
      <PagedTable
        list={list}
        caption="Senders"
        rowKey={({ sender_id }) => sender_id}
        empty={
          <Empty icon="user" action={ask}>
            No senders yet. Request one; without a registered sender, accounts with DLT cannot send.
          </Empty>
        }
        columns={[
          { head: 'Sender', cell: ({ sender }) => <strong>{sender}</strong> },
          {
            head: 'Status',
            cell: ({ state }) => <Badge tone={STATES[state][1]}>{STATES[state][0]}</Badge>,
          },
          { head: 'Routes', cell: ({ routes }) => routes.join(', ') },
          { head: 'Requested', cell: (row) => <Time at={row.requested_at} /> },
          { head: 'Decided', cell: (row) => (row.decided_at === null ? '–' : <Time at={row.decided_at} />) },
          { head: 'Reason', cell: ({ reason }) => reason ?? '–' },
        ]}
        acts={may('manage') && ((row) => [['Remove', row.sender, () => drop(row)]])}
      />
      {dialog}
    </>
  );
}
