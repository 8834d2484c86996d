import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { EntryOf } from '../../../../../api/endpoint.ts';
import type { accountLedger } from '../../../../../endpoints/accounts/credits.ts';
import { create, post } from '../../../api/http.ts';
import { useLoad } from '../../../api/load.ts';
import type { Looked } from '../../../api/looking.ts';
import { usePages } from '../../../api/pages.ts';
import { lookAt, may } from '../../../api/session.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog, FormDialog, toast, useClosing, useDialog } from '../../../parts/dialog.tsx';
import { Field, Select } from '../../../parts/field.tsx';
import { Form, type FormValues } from '../../../parts/form.tsx';
import { Card, Empty, Loading, Notice, PageHead } from '../../../parts/page.tsx';
import { PagedTable } from '../../../parts/table.tsx';
import { Badge, CopyId, Facts, number, Stat, Stats, Time } from '../../../parts/value.tsx';
import type { PageProps } from '../../../router/route.tsx';
import { StatementsCard } from '../../credits/statement-page.tsx';
import { type AccountDetail, type ChangedAccount, STATUS_TONES } from './accounts.tsx';
import { ChainsCard } from './chains-card.tsx';
import { LimitsCard } from './limits-card.tsx';
import { PricesCard } from './prices-card.tsx';
import { SettingsCard } from './settings-card.tsx';

const MISSING = { entity_id: 'a PE id', sender: 'an approved sender', template: 'an approved template of it' } as const;

/** One account: its credits, its state, its settings. */
export function AccountPage({ params }: PageProps) {
  const path = `/v2/admin/accounts/${params.account_id}`;
  const { route } = useLocation();
  const loaded = useLoad<AccountDetail>(path);
  const [dialog, open] = useDialog();
  const [booked, setBooked] = useState(0);
  const account = loaded.data;
  const isOpen = account?.closed === null;
  const reload = () => {
    loaded.reload();
    setBooked((count) => count + 1);
  };
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
      {isOpen && may('admin:support') && (
        <Button onClick={() => open(<StatusDialog account={account} onChange={loaded.setData} />)}>
          {account.status === 'active' ? 'Suspend or pause' : 'Resume account'}
        </Button>
      )}
      {isOpen && may('admin:money') && (
        <Button look="primary" onClick={() => open(<CreditDialog account={account} onDone={reload} />)}>
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
                <Button look="danger" onClick={() => open(<CloseDialog account={data} onChange={loaded.setData} />)}>
                  Close account
                </Button>
              </Card>
            )}
          </>
        )}
      </Loading>
      {dialog}
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
            [
              'Opt-ins',
              chatapp.length > 0 && (
                <a href={`/dashboard/admin/accounts/${account.account_id}/opt-ins`}>Who opted in</a>
              ),
            ],
            ['Senders', account.senders.map(({ sender, status: of }) => `${sender} (${of})`).join(', ') || 'none'],
            ['Made', <Time at={account.created_at} full />],
            ['Changes', <a href={`/dashboard/admin/audit?account_id=${account.account_id}`}>Audit of this account</a>],
          ]}
        />
      </Card>
    </>
  );
}

interface ChangeProps {
  readonly account: AccountDetail;
  readonly onChange: (account: AccountDetail) => void;
}

const STOPS = [
  ['suspended', 'Suspend: its sends are refused'],
  ['paused', 'Pause: its sends are accepted and wait'],
] as const;

/** Asks before an account stops sending, or sends again. */
function StatusDialog({ account: { account_id: id, name, status }, onChange }: ChangeProps) {
  const isActive = status === 'active';
  const change = async (values: FormValues) => {
    const { account: changed } = await post<ChangedAccount>(`/v2/admin/accounts/${id}/status`, {
      status: isActive ? values.text('status') : 'active',
      reason: values.optional('reason'),
    });
    onChange(changed);
    return `${name} is ${changed.status}.`;
  };
  return (
    <FormDialog
      title={isActive ? `Stop ${name}?` : `Resume ${name}?`}
      lead={
        isActive
          ? 'What waits to leave stays where it is until you resume the account. Nothing is lost.'
          : 'It may send again; what waited leaves first.'
      }
      submit={isActive ? 'Stop account' : 'Resume account'}
      look={isActive ? 'danger' : 'primary'}
      onSubmit={change}
    >
      {isActive && <Select name="status" label="How" options={STOPS} initial="suspended" />}
      <Field name="reason" label="Reason" optional hint="It stands in the audit, which the account can read." />
    </FormDialog>
  );
}

interface Credit {
  readonly kind: 'top_up' | 'correction';
  readonly amount: number;
  readonly reason: string;
}

interface CreditDialogProps {
  readonly account: AccountDetail;
  readonly onDone: () => void;
}

const KINDS = [
  ['top_up', 'Top-up: adds credits that were paid'],
  ['correction', 'Correction: puts a mistake right'],
] as const;

/** Two steps: what to book, then a second look at it. Money that is booked wrongly is put right by a correction only. */
function CreditDialog({ account, onDone }: CreditDialogProps) {
  const close = useClosing();
  const [typed, setTyped] = useState<Credit>();
  const [sure, setSure] = useState(false);
  const look = async (values: FormValues) => {
    setTyped({
      kind: values.text('kind') === 'correction' ? 'correction' : 'top_up',
      amount: values.neededNumber('amount'),
      reason: values.text('reason'),
    });
    setSure(true);
  };
  const book = async () => {
    if (typed === undefined) return;
    await create(`/v2/admin/accounts/${account.account_id}/credits`, typed);
    onDone();
    toast(typed.amount < 0 ? `Took ${number(-typed.amount)} credits.` : `Added ${number(typed.amount)} credits.`);
    close();
  };
  if (sure && typed !== undefined) {
    const title = typed.kind === 'top_up' ? 'Top up these credits?' : 'Make this correction?';
    return (
      <Dialog title={title}>
        <SecondLook account={account} credit={typed} />
        <Form submit={actOf(typed)} onSubmit={book} onCancel={() => setSure(false)} />
      </Dialog>
    );
  }
  return (
    <Dialog title={`Credits of ${account.name}`}>
      <Form submit="Look at it again" onSubmit={look} onCancel={close}>
        <Select name="kind" label="What" options={KINDS} initial={typed?.kind ?? 'top_up'} />
        <Field
          name="amount"
          label="Credits"
          inputMode="numeric"
          initial={typed === undefined ? '' : String(typed.amount)}
          hint="A correction may be negative, such as -500."
        />
        <Field
          name="reason"
          label="Reason"
          initial={typed?.reason ?? ''}
          hint="The account reads it in its statement: “Invoice 7, paid on 22 November”."
        />
      </Form>
    </Dialog>
  );
}

function SecondLook({ account, credit }: { readonly account: AccountDetail; readonly credit: Credit }) {
  const { amount, reason } = credit;
  return (
    <Facts
      facts={[
        ['Account', account.name],
        ['Id', <code>{account.account_id}</code>],
        [amount < 0 ? 'Takes' : 'Adds', <strong>{`${number(Math.abs(amount))} credits`}</strong>],
        ['Balance', `${number(account.balance)} → ${number(account.balance + amount)}`],
        ['Reason', reason === '' ? '–' : reason],
      ]}
    />
  );
}

function actOf({ kind, amount }: Credit): string {
  if (kind === 'top_up') return `Add ${number(amount)} credits`;
  return amount < 0 ? `Take ${number(-amount)} credits` : `Add ${number(amount)} credits`;
}

const REMAINING = [
  ['paid_out', 'They are paid out to the customer'],
  ['forfeited', 'They are forfeited'],
] as const;

/** Asks for the account's name, because nothing opens it again. */
function CloseDialog({ account: { account_id: id, name, balance }, onChange }: ChangeProps) {
  const close = async (values: FormValues) => {
    const { account: closed } = await post<ChangedAccount>(`/v2/admin/accounts/${id}/close`, {
      remaining: values.text('remaining'),
      reason: values.text('reason'),
    });
    onChange(closed);
    return `${name} is closed.`;
  };
  return (
    <FormDialog
      title={`Close ${name} for good?`}
      lead={`Its keys, users, webhooks and numbers stop working within seconds. What is scheduled is cancelled, batches are stopped, and what waits is refunded. When nothing waits any more, a line in the statement takes the credits that are left${balance > 0 ? ` (${number(balance)} now)` : ''}. Nobody can open the account again.`}
      submit="Close account"
      look="danger"
      typed={name}
      onSubmit={close}
    >
      <Select name="remaining" label="Credits that are left" options={REMAINING} initial="paid_out" />
      <Field name="reason" label="Reason" hint="It stands in the audit." />
    </FormDialog>
  );
}

/** What has become of a closed account. */
function ClosedNotice({ closed }: { readonly closed: NonNullable<AccountDetail['closed']> }) {
  return (
    <Notice tone="warn">
      Closed <Time at={closed.at} full />
      {closed.reason !== '' && `: ${closed.reason}`}.{' '}
      {closed.erased_at !== null ? (
        <>
          Everything of it was erased <Time at={closed.erased_at} full />.
        </>
      ) : closed.settled_at !== null ? (
        `Its credits are ${closed.remaining === 'paid_out' ? 'paid out' : 'forfeited'}, and nothing waits.`
      ) : (
        'Something of it still waits; its credits are settled when that has ended.'
      )}
    </Notice>
  );
}

/** As `GET /v2/admin/accounts/{account_id}/ledger` shows it. */
type Entry = EntryOf<typeof accountLedger>;

const REASONS: Readonly<Record<string, string>> = {
  send: 'Messages',
  conversation: 'Conversation',
  top_up: 'Top-up',
  refund: 'Refund',
  correction: 'Correction',
};

function StatementCard({ account }: { readonly account: Looked }) {
  const { route } = useLocation();
  const list = usePages<Entry>(`/v2/admin/accounts/${account.account_id}/ledger`, { limit: 10 });
  const explain = may('admin:look') && (
    <Button
      onClick={() => {
        lookAt(account);
        route('/dashboard/credits');
      }}
    >
      With its messages
    </Button>
  );
  return (
    <Card title="Statement" actions={explain}>
      <PagedTable
        list={list}
        caption="Statement"
        rowKey={({ seq }) => String(seq)}
        empty={<Empty icon="credits">No credits came or went yet.</Empty>}
        columns={[
          { head: 'When', cell: (row) => <Time at={row.at} /> },
          { head: 'What', cell: ({ reason, note }) => `${REASONS[reason] ?? reason}${note ? `: ${note}` : ''}` },
          {
            head: 'Credits',
            kind: 'number',
            cell: ({ amount }) => (amount > 0 ? `+${number(amount)}` : number(amount)),
          },
          { head: 'Balance', kind: 'number', cell: (row) => number(row.balance_after) },
          { head: 'By', cell: ({ by, by_name }) => (by === null ? '–' : <span title={by}>{by_name ?? by}</span>) },
        ]}
      />
    </Card>
  );
}
