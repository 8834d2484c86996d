import { useState } from 'preact/hooks';
import { post } from '../../../api/http.ts';
import { usePages } from '../../../api/pages.ts';
import { may } from '../../../api/session.ts';
import { AccountLink } from '../../../parts/account.tsx';
import { Button } from '../../../parts/button.tsx';
import { Confirm, toast } from '../../../parts/dialog.tsx';
import { Empty, PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Badge } from '../../../parts/value.tsx';
import { LastError, type Provider, ProviderDialog, TestSendDialog, TONES } from './provider-dialogs.tsx';

/** The accounts' numbers on the chat-app channel. */
export function ProvidersPage() {
  const list = usePages<Provider>('/v2/admin/providers');
  const [asked, setAsked] = useState<Provider>();
  const [edited, setEdited] = useState<Provider | 'new'>();
  const [tested, setTested] = useState<Provider>();
  const give = may('admin:routing') && (
    <Button look="primary" icon="plus" onClick={() => setEdited('new')}>
      Give a number
    </Button>
  );
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
          ...(may('admin:routing')
            ? [
                {
                  head: 'Actions',
                  kind: 'actions' as const,
                  cell: (row: Provider) => (
                    <>
                      <Button look="quiet" onClick={() => setTested(row)}>
                        Send a test <span class="hidden">over {row.number}</span>
                      </Button>
                      <Button look="quiet" onClick={() => setEdited(row)}>
                        Change <span class="hidden">{row.number}</span>
                      </Button>
                      <Button look="quiet" onClick={() => setAsked(row)}>
                        {isGoing(row) ? 'Pause' : 'Start'} <span class="hidden">{row.number}</span>
                      </Button>
                    </>
                  ),
                },
              ]
            : []),
        ]}
      />
      {edited && (
        <ProviderDialog
          {...(edited !== 'new' && { of: edited })}
          onClose={() => setEdited(undefined)}
          onDone={list.reload}
        />
      )}
      {tested && <TestSendDialog of={tested} onClose={() => setTested(undefined)} />}
      {asked && <GoingDialog of={asked} onClose={() => setAsked(undefined)} onDone={list.reload} />}
    </>
  );
}

function isGoing({ condition }: Provider): boolean {
  return condition === 'active' || condition === 'failing';
}

interface GoingProps {
  readonly of: Provider;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function GoingDialog({ of, onClose, onDone }: GoingProps) {
  const isPause = isGoing(of);
  const act = async () => {
    await post(`/v2/admin/providers/${of.number}/status`, { status: isPause ? 'paused' : 'active' });
    toast(isPause ? `${of.number} is paused.` : `${of.number} sends again.`);
    onDone();
  };
  return (
    <Confirm
      title={isPause ? `Pause ${of.number}?` : `Start ${of.number}?`}
      act={isPause ? 'Pause number' : 'Start number'}
      onConfirm={act}
      onClose={onClose}
    >
      {isPause
        ? 'Sends are accepted and wait. What customers write comes in all the same.'
        : 'What waits is sent. If the provider still refuses the account, it stops again.'}
    </Confirm>
  );
}
