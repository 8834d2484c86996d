import { post } from '../../../api/http.ts';
import { usePages } from '../../../api/pages.ts';
import { may } from '../../../api/session.ts';
import { AccountLink } from '../../../parts/account.tsx';
import { AddButton } from '../../../parts/button.tsx';
import { Confirm, useDialog } from '../../../parts/dialog.tsx';
import { Empty, PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Badge } from '../../../parts/value.tsx';
import {
  LastError,
  type Made,
  type Provider,
  ProviderDialog,
  TestSendDialog,
  TONES,
  VerifyTokenDialog,
} from './provider-dialogs.tsx';

/** The accounts' numbers on the chat-app channel. */
export function ProvidersPage() {
  const list = usePages<Provider>('/v2/admin/providers');
  const [dialog, open] = useDialog();
  const secret = (made: Made) => open(<VerifyTokenDialog {...made} />);
  const edit = (of?: Provider) => open(<ProviderDialog of={of} onDone={list.reload} onSecret={secret} />);
  const setGoing = (of: Provider) => {
    const isPause = isGoing(of);
    open(
      <Confirm
        title={isPause ? `Pause ${of.number}?` : `Start ${of.number}?`}
        act={isPause ? 'Pause number' : 'Start number'}
        onConfirm={async () => {
          await post(`/v2/admin/providers/${of.number}/status`, { status: isPause ? 'paused' : 'active' });
          list.reload();
          return isPause ? `${of.number} is paused.` : `${of.number} sends again.`;
        }}
      >
        {isPause
          ? 'Sends are accepted and wait. What customers write comes in all the same.'
          : 'What waits is sent. If the provider still refuses the account, it stops again.'}
      </Confirm>,
    );
  };
  const give = may('admin:routing') && <AddButton onClick={() => edit()}>Give a number</AddButton>;
  return (
    <>
      <PageHead
        title="Chat-app providers"
        lead="The accounts' numbers on the chat-app channel, with what fails."
        actions={give}
      />
      <PagedTable
        list={list}
        caption="Chat-app providers"
        rowKey={({ number }) => number}
        empty={
          <Empty icon="provider" action={give}>
            No account has a number yet.
          </Empty>
        }
        columns={[
          { head: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
          {
            head: 'Number',
            cell: ({ number }) => <a href={`/dashboard/admin/providers/${number}`}>{number}</a>,
          },
          { head: 'Status', cell: ({ condition }) => <Badge tone={TONES[condition]}>{condition}</Badge> },
          {
            head: 'Opt-in',
            cell: ({ account_id: id, opt_in: rule }) => (
              <a href={`/dashboard/admin/accounts/${id}/opt-ins`}>{rule === 'list' ? 'by the list' : 'everybody'}</a>
            ),
          },
          { head: 'Last error', cell: (row) => <LastError of={row} /> },
          { head: 'Address', cell: ({ base_url }) => <code>{base_url}</code> },
        ]}
        acts={
          may('admin:routing') &&
          ((row) => [
            ['Send a test', `over ${row.number}`, () => open(<TestSendDialog of={row} />)],
            ['Change', row.number, () => edit(row)],
            [isGoing(row) ? 'Pause' : 'Start', row.number, () => setGoing(row)],
          ])
        }
      />
      {dialog}
    </>
  );
}

function isGoing({ condition }: Provider): boolean {
  return condition === 'active' || condition === 'failing';
}
