import { useState } from 'preact/hooks';
import type { EntryOf } from '../../../../../api/endpoint.ts';
import type { providers } from '../../../../../endpoints/providers/providers.ts';
import { post } from '../../../api/http.ts';
import { usePages } from '../../../api/pages.ts';
import { may } from '../../../api/session.ts';
import { AccountLink } from '../../../parts/account.tsx';
import { Badge, type Tone } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { toast } from '../../../parts/toast.tsx';

/** As `GET /v2/admin/providers` shows it. */
type Provider = EntryOf<typeof providers>;

const TONES: Readonly<Record<Provider['condition'], Tone>> = {
  active: 'good',
  paused: 'plain',
  failing: 'warn',
  stopped: 'bad',
};

/** The accounts' numbers on the chat-app channel. */
export function ProvidersPage() {
  const list = usePages<Provider>('/v2/admin/providers');
  const [asked, setAsked] = useState<Provider>();
  return (
    <>
      <PageHead title="Chat-app providers" lead="The accounts' numbers on the chat-app channel, with what fails." />
      <PagedTable
        list={list}
        caption="Chat-app providers"
        rowKey={({ account_id }) => account_id}
        empty={
          <Empty icon="provider">
            No account has a number yet. Give one: <code>npm run ops -- provider set</code>.
          </Empty>
        }
        columns={[
          { head: 'Account', cell: ({ account_id: id }) => <AccountLink id={id} /> },
          { head: 'Number', cell: ({ number }) => number },
          { head: 'State', cell: ({ condition }) => <Badge tone={TONES[condition]}>{condition}</Badge> },
          { head: 'Last error', cell: (row) => <LastError of={row} /> },
          { head: 'Address', cell: ({ base_url }) => <code>{base_url}</code> },
          ...(may('admin:routing')
            ? [
                {
                  head: 'Actions',
                  kind: 'actions' as const,
                  cell: (row: Provider) => (
                    <Button look="quiet" onClick={() => setAsked(row)}>
                      {isGoing(row) ? 'Pause' : 'Start'} <span class="hidden">{row.number}</span>
                    </Button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {asked && <GoingDialog of={asked} onClose={() => setAsked(undefined)} onDone={list.reload} />}
    </>
  );
}

function isGoing({ condition }: Provider): boolean {
  return condition === 'active' || condition === 'failing';
}

function LastError({ of: { stopped_reason: stopped, troubles } }: { readonly of: Provider }) {
  if (stopped !== null) return <>{stopped}</>;
  if (troubles.length === 0) return <span class="soft">none</span>;
  return (
    <>
      {troubles.map(({ words, at }) => (
        <div key={words}>
          {words}, <Time at={at} />
        </div>
      ))}
    </>
  );
}

interface GoingProps {
  readonly of: Provider;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function GoingDialog({ of, onClose, onDone }: GoingProps) {
  const isPause = isGoing(of);
  const act = async () => {
    await post(`/v2/admin/providers/${of.account_id}/status`, { status: isPause ? 'paused' : 'active' });
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
