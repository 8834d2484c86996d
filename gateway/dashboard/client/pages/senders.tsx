import type { AnswerOf, EntryOf } from '../../../api/endpoint.ts';
import type { senders } from '../../../endpoints/senders/senders.ts';
import { create, remove } from '../api/http.ts';
import { useLoad, usePages } from '../api/load.ts';
import { may } from '../api/session.ts';
import { Checkboxes, Field } from '../parts/field.tsx';
import { type Adding, type Asking, ListPage } from '../parts/list.tsx';
import { Badge, Time } from '../parts/value.tsx';

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

/** The most that one page of the API has. */
const READ = 500;

export function useOwnSenders(): readonly Sender[] {
  const { data } = useLoad<AnswerOf<typeof senders>>(PATH, { limit: READ });
  return data?.data.filter(({ state }) => state === 'approved') ?? [];
}

export function SendersPage() {
  return (
    <ListPage
      title="Senders"
      lead="What recipients see as the sender of an SMS. Your service provider approves each."
      list={usePages<Sender>(PATH)}
      rowKey={({ sender_id }) => sender_id}
      icon="user"
      empty="No senders yet. Request one; without a registered sender, accounts with DLT cannot send."
      columns={[
        { head: 'Sender', cell: ({ sender }) => <strong>{sender}</strong> },
        { head: 'Status', cell: ({ state }) => <Badge tone={STATES[state][1]}>{STATES[state][0]}</Badge> },
        { head: 'Routes', cell: ({ routes }) => routes.join(', ') },
        { head: 'Requested', cell: (row) => <Time at={row.requested_at} /> },
        { head: 'Decided', cell: (row) => (row.decided_at === null ? '–' : <Time at={row.decided_at} />) },
        { head: 'Reason', cell: ({ reason }) => reason ?? '–' },
      ]}
      add={may('manage') && ADDING}
      acts={may('manage') && ((row) => [['Remove', row.sender, removing(row)]])}
    />
  );
}

const ADDING: Adding = {
  words: 'Request sender',
  title: 'Request a sender',
  fields: (
    <>
      <Field name="sender" label="Sender" mono>
        1 to 11 characters with a letter, or 3 to 15 digits. Exactly as recipients shall see it; with DLT, as on its
        platform.
      </Field>
      <Checkboxes name="routes" legend="For" options={ROUTES} initial={['transactional']} />
    </>
  ),
  send: async (values) => {
    await create(PATH, { sender: values.text('sender'), routes: values.all('routes') });
    return 'Sender requested. It can be used when it is approved.';
  },
};

function removing({ sender_id: id, sender, state }: Sender): Asking {
  return {
    title: `Remove the sender ${sender}?`,
    act: 'Remove sender',
    typed: state === 'approved' ? sender : undefined,
    warning: 'Messages with it are refused within seconds. To use it again it must be approved again.',
    send: async () => {
      await remove(`${PATH}/${id}`);
      return `${sender} is removed.`;
    },
  };
}
