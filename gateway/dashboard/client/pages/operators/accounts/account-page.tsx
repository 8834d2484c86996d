import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useLoad } from '../../../api/load.ts';
import { lookAt, may } from '../../../api/session.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { CopyId } from '../../../parts/copy.tsx';
import { Facts, Stat, Stats } from '../../../parts/facts.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { number } from '../../../parts/number.ts';
import { Card, Loading, PageHead } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time.tsx';
import type { PageProps } from '../../../router/page.ts';
import { StatementsCard } from '../../credits/statements.tsx';
import { type AccountDetail, STATUS_TONES } from './account.ts';
import { ChainsCard } from './chains-card.tsx';
import { CloseDialog, ClosedNotice } from './close-dialog.tsx';
import { CreditDialog } from './credit-dialog.tsx';
import { LimitsCard } from './limits-card.tsx';
import { PricesCard } from './prices-card.tsx';
import { SettingsCard } from './settings-card.tsx';
import { StatementCard } from './statement-card.tsx';
import { StatusDialog } from './status-dialog.tsx';

const MISSING = { entity_id: 'a PE id', sender: 'an approved sender', template: 'an approved template of it' } as const;

/** One account: its credits, its state, its settings. */
export function AccountPage({ params }: PageProps) {
  const path = `/v2/admin/accounts/${params.account_id}`;
  const { route } = useLocation();
  const loaded = useLoad<AccountDetail>(path);
  const [asked, setAsked] = useState<'credits' | 'status' | 'close'>();
  const [booked, setBooked] = useState(0);
  const account = loaded.data;
  const close = () => setAsked(undefined);
  const open = account?.closed === null;
  const actions = account && account.closed?.erased_at == null && (
    <>
      {may('admin:look') && (
        <Button
          icon="search"
          onClick={() => {
            lookAt(account);
            route('/dashboard');
          }}
        >
          Look at the account
        </Button>
      )}
      {open && may('admin:support') && (
        <Button onClick={() => setAsked('status')}>
          {account.status === 'active' ? 'Suspend or pause' : 'Resume account'}
        </Button>
      )}
      {open && may('admin:money') && (
        <Button look="primary" onClick={() => setAsked('credits')}>
          Top up or correct
        </Button>
      )}
    </>
  );
  return (
    <>
      <PageHead
        title={account?.name ?? 'Account'}
        back={{ href: '/dashboard/admin/accounts', label: 'Accounts' }}
        actions={actions}
      />
      <Loading of={loaded}>
        {(data) => (
          <>
            <Shown account={data} />
            {may('admin:read') && (
              <>
                <StatementCard account={data} key={booked} />
                <StatementsCard
                  base={`/dashboard/admin/accounts/${data.account_id}/statement`}
                  since={data.created_at}
                  until={data.closed?.settled_at ?? undefined}
                />
                {data.closed === null && (
                  <>
                    <PricesCard account={data.account_id} name={data.name} currency={data.currency} />
                    <LimitsCard account={data.account_id} name={data.name} />
                    {data.settings.dlt === 'on' && <ChainsCard account={data.account_id} />}
                  </>
                )}
              </>
            )}
            {may('admin:support') && data.closed === null && <SettingsCard account={data} onChange={loaded.setData} />}
            {may('admin:money') && data.closed === null && (
              <Card title="End of this account">
                <Button look="danger" onClick={() => setAsked('close')}>
                  Close account
                </Button>
              </Card>
            )}
          </>
        )}
      </Loading>
      {account && asked === 'credits' && (
        <CreditDialog
          account={account}
          onClose={close}
          onDone={() => {
            loaded.reload();
            setBooked(booked + 1);
          }}
        />
      )}
      {account && asked === 'close' && <CloseDialog account={account} onClose={close} onChange={loaded.setData} />}
      {account && asked === 'status' && <StatusDialog account={account} onClose={close} onChange={loaded.setData} />}
    </>
  );
}

function Shown({ account }: { readonly account: AccountDetail }) {
  const { missing_to_send: missing, keys, status, chatapp, closed } = account;
  return (
    <>
      {closed !== null && <ClosedNotice closed={closed} />}
      {closed === null && missing.length > 0 && (
        <Notice tone="warn">It cannot send yet: it needs {missing.map((what) => MISSING[what]).join(' and ')}.</Notice>
      )}
      <Stats>
        <Stat label="Balance" value={number(account.balance)} note={`credits, until ${account.expiry_date}`} />
        <Stat label="Active keys" value={number(keys.active)} />
        <Stat
          label="Users"
          value={number(account.users)}
          href={`/dashboard/admin/users?account_id=${account.account_id}`}
        />
      </Stats>
      <Card title="Account">
        <Facts
          facts={[
            ['Status', <Badge tone={STATUS_TONES[status]}>{status}</Badge>],
            ['Id', <CopyId id={account.account_id} />],
            [
              'Chat-app numbers',
              chatapp.map(({ number: one, condition }) => `${one} (${condition})`).join(', ') || 'none',
            ],
            ...(chatapp.length === 0
              ? []
              : [
                  [
                    'Opt-ins',
                    <a href={`/dashboard/admin/accounts/${account.account_id}/opt-ins`}>Who opted in</a>,
                  ] as const,
                ]),
            ['Senders', account.senders.map(({ sender, status: of }) => `${sender} (${of})`).join(', ') || 'none'],
            ['Made', <Time at={account.created_at} full />],
            ['Changes', <a href={`/dashboard/admin/audit?account_id=${account.account_id}`}>Audit of this account</a>],
          ]}
        />
      </Card>
    </>
  );
}
