import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { accountLedger } from '../../../../endpoints/accounts/credits.ts';
import type { chains } from '../../../../endpoints/carriers/chains.ts';
import { create, type Looked, post, put, remove } from '../../api/http.ts';
import { useLoad, usePages } from '../../api/load.ts';
import { lookAt, may } from '../../api/session.ts';
import { Field, Select, TextArea } from '../../parts/field.tsx';
import {
  Dialog,
  Form,
  FormDialog,
  type FormValues,
  toast,
  toastProblem,
  useClosing,
  useDialog,
} from '../../parts/form.tsx';
import { PagedTable, Table } from '../../parts/list.tsx';
import { Card, Empty, Loading, Notice, PageHead, type PageProps } from '../../parts/page.tsx';
import { Badge, Button, CopyId, Facts, number, Stat, Stats, Time } from '../../parts/value.tsx';
import { LimitsCard } from '../limits.tsx';
import { StatementsCard } from '../statements.tsx';
import { PricesCard } from './account-prices.tsx';
import { type AccountDetail, type ChangedAccount, SettingsCard, STATUS_TONES } from './accounts.tsx';
import type { Carriers } from './carriers.tsx';

const MISSING = { entity_id: 'a PE id', sender: 'an approved sender', template: 'an approved template of it' } as const;

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
      {isActive && <Select name="status" label="How" options={STOPS} />}
      <Field name="reason" label="Reason" optional>
        It stands in the audit, which the account can read.
      </Field>
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

/** Two steps, entry and review: a wrong booking can only be corrected by another booking. */
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
      <Form submit="Look at it again" of={typed} onSubmit={look} onCancel={close}>
        <Select name="kind" label="What" options={KINDS} />
        <Field name="amount" label="Credits" inputMode="numeric">
          A correction may be negative, such as -500.
        </Field>
        <Field name="reason" label="Reason">
          The account reads it in its statement: “Invoice 7, paid on 22 November”.
        </Field>
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

/** Requires typing the account's name, because closing is final. */
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
      <Select name="remaining" label="Credits that are left" options={REMAINING} />
      <Field name="reason" label="Reason">
        It stands in the audit.
      </Field>
    </FormDialog>
  );
}

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

type Chains = AnswerOf<typeof chains>;
type Chain = Chains['chains'][number];

/** Telemarketers between the account and a carrier, for DLT's chain hash; they override the carrier's own. */
function ChainsCard({ account }: { readonly account: string }) {
  const path = `/v2/admin/accounts/${account}/chains`;
  const loaded = useLoad<Chains>(path);
  const [dialog, open] = useDialog();
  const edit = (chain?: Chain) => open(<ChainDialog path={path} chain={chain} onDone={loaded.reload} />);
  const take = (carrier: string) =>
    remove(`${path}/${carrier}`).then(() => {
      toast("The carrier's own telemarketers count now.");
      loaded.reload();
    }, toastProblem);
  return (
    <Card
      title="Telemarketers (DLT chain)"
      lead="For the chain hash of India's DLT, where they differ from the carrier's own (its setting “DLT chain”)."
      actions={may('admin:routing') && <Button onClick={() => edit()}>Set telemarketers</Button>}
    >
      <Loading of={loaded}>
        {({ chains }) =>
          chains.length === 0 ? (
            <p class="soft">The carriers' own count.</p>
          ) : (
            <Table
              caption="Telemarketers"
              rows={chains}
              rowKey={({ carrier_id }) => carrier_id}
              columns={[
                { head: 'Carrier', cell: ({ carrier_id }) => carrier_id },
                { head: 'Telemarketers', cell: ({ telemarketers }) => telemarketers.join(', ') },
              ]}
              acts={
                may('admin:routing') &&
                ((row) => [
                  ['Change', row.carrier_id, () => edit(row)],
                  ['Remove', row.carrier_id, () => take(row.carrier_id)],
                ])
              }
            />
          )
        }
      </Loading>
      {dialog}
    </Card>
  );
}

interface ChainDialogProps {
  readonly path: string;
  readonly chain: Chain | undefined;
  readonly onDone: () => void;
}

function ChainDialog({ path, chain, onDone }: ChainDialogProps) {
  const carriers = useLoad<Carriers>('/v2/admin/carriers');
  const options = (carriers.data?.carriers ?? []).map(({ carrier_id: id, name }) => [id, name] as const);
  const send = async (values: FormValues) => {
    const telemarketers = values.lines('telemarketers');
    await put(`${path}/${encodeURIComponent(values.text('carrier'))}`, { telemarketers });
    onDone();
    return 'Set. Workers follow it within seconds.';
  };
  return (
    <FormDialog title="Set telemarketers" submit="Set telemarketers" of={chain} onSubmit={send}>
      {chain ? (
        <Field name="carrier" label="Carrier" value={chain.carrier_id} />
      ) : (
        <Select name="carrier" label="Carrier" options={options} />
      )}
      <TextArea name="telemarketers" label="Telemarketers" rows={4}>
        Their ids, one on each line: from the first after the business to the one that delivers.
      </TextArea>
    </FormDialog>
  );
}
