import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../api/endpoint.ts';
import type { accountOverview } from '../../../endpoints/statistics/overview.ts';
import type { accountStatistics } from '../../../endpoints/statistics/statistics.ts';
import type { operatorOverview } from '../../../endpoints/traffic/overview.ts';
import { useLive } from '../api/live.ts';
import { useLoad } from '../api/load.ts';
import { may } from '../api/session.ts';
import { Table } from '../parts/list.tsx';
import { Card, Empty, Loading, Notice, PageHead, Tabs } from '../parts/page.tsx';
import { Plot } from '../parts/plot.tsx';
import { amount, Badge, counted, number, percent, Stat, Stats, Time, utcDay, Words } from '../parts/value.tsx';
import { BalanceStats, type Overview } from './credits.tsx';

export function OverviewPage() {
  const { query } = useLocation();
  const overview = useLoad<Overview>('/v2/account/overview');
  const statistics = useLoad<Statistics>('/v2/account/statistics', { period: query.period ?? '24h' });
  const first = useLoad<{ readonly data: readonly unknown[] }>('/v2/messages', { limit: 1 });
  const messages = useLive<{ readonly data: readonly unknown[] }>('messages');
  const counted = JSON.stringify(useLive('statistics'));
  useEffect(() => {
    if (counted !== undefined) statistics.follow();
  }, [counted, statistics.follow]);
  const newest = messages?.data ?? first.data?.data;
  return (
    <>
      <PageHead title="Overview" lead="What is left, what was sent, and how it went." />
      <Loading of={overview}>
        {(data) => (
          <>
            <Conditions of={data.conditions} />
            <Stats>
              <BalanceStats overview={data} />
              <Stat
                label="Open sessions"
                value={`${number(data.open_sessions)}${data.more_sessions ? '+' : ''}`}
                note="customers to answer freely"
                href="/dashboard/inbox"
              />
            </Stats>
          </>
        )}
      </Loading>
      {newest?.length === 0 && <FirstSteps />}
      <Tabs label="Period" tabs={PERIODS} />
      <Loading of={statistics}>{(data) => <Period statistics={data} />}</Loading>
    </>
  );
}

function Period({ statistics }: { readonly statistics: Statistics }) {
  const { step, series, operators, errors, counted_at } = statistics;
  return (
    <>
      <Stats>
        <MessageStats statistics={statistics} />
      </Stats>
      <Card>
        <Plot
          title="Messages by status"
          summary={peak(statistics)}
          times={series.map(({ at }) => at)}
          days={step === 'day'}
          series={[
            { name: 'Delivered or read', tone: 'good', values: series.map(arrived) },
            { name: 'Sent, no receipt yet', tone: 'accent', values: series.map(({ sent }) => sent) },
            { name: 'Waiting', tone: 'warn', values: series.map(({ queued }) => queued) },
            { name: 'Failed', tone: 'bad', values: series.map(failed) },
            { name: 'Received', tone: 'soft', values: series.map(({ received }) => received) },
          ]}
        />
        <p class="soft">
          {counted_at === null ? (
            'Nothing is counted yet. Numbers come within a minute of the first message.'
          ) : (
            <>
              Counted <Time at={counted_at} />. Messages are counted at the time at which they were made.
              {step === 'day' && ' Days are those of UTC.'}
            </>
          )}
        </p>
      </Card>
      <Card title="By carrier" lead="How many of the messages whose end is known arrived, and how long that took.">
        <OperatorTable rows={operators} />
      </Card>
      <Card title="Why messages failed" lead="The most frequent error codes.">
        <ErrorTable rows={errors} />
      </Card>
    </>
  );
}

/** "Peak 36 at 22 Nov, 19:00", or of a day "Peak 36 on 22 Nov 2026". */
function peak({ step, series }: Statistics): string {
  const top = series.reduce<Statistics['series'][number] | undefined>(
    (most, step) => (most === undefined || step.total > most.total ? step : most),
    undefined,
  );
  if (top === undefined || top.total === 0) return 'No messages in this period.';
  if (step === 'day') return `Peak ${amount(top.total)} on ${utcDay(top.at)}.`;
  const at = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
  return `Peak ${amount(top.total)} at ${at.format(new Date(top.at))}.`;
}

function OperatorTable({ rows }: { readonly rows: readonly OperatorRow[] }) {
  if (rows.length === 0) return <Empty icon="carrier">No message of this period has ended yet.</Empty>;
  return (
    <Table
      caption="Delivery by carrier"
      rows={rows}
      rowKey={({ operator, channel }) => `${channel} ${operator}`}
      columns={[
        { head: 'Carrier', cell: ({ operator }) => operator },
        { head: 'Ended', kind: 'number', cell: ({ ended }) => number(ended) },
        { head: 'Delivered', kind: 'number', cell: ({ delivery_rate }) => percent(delivery_rate) },
        { head: 'Half within', kind: 'number', cell: ({ seconds_p50 }) => duration(seconds_p50) },
        { head: '95 % within', kind: 'number', cell: ({ seconds_p95 }) => duration(seconds_p95) },
      ]}
    />
  );
}

/** Shown until the account has sent something. */
function FirstSteps() {
  return (
    <Card title="Begin here" lead="Nothing was sent yet. Five steps; the first may take your service provider a day.">
      <ol class="steps">
        <li>
          <a href="/dashboard/senders">Request a sender</a>: what recipients see as the sender of an SMS. Your service
          provider approves it.
        </li>
        <li>
          Request a template, if your messages need one: <a href="/dashboard/templates">DLT</a> for SMS in India,{' '}
          <a href="/dashboard/templates/chatapp">chat-app</a> for writing to customers first.
        </li>
        <li>
          <a href="/dashboard/keys">Create an API key</a>
          {may('manage') ? ' for your program.' : ': a developer or an owner of your account does it.'}
        </li>
        <li>
          <a href="/dashboard/webhooks">Register a webhook</a>, so that your program learns what became of its messages.
        </li>
        <li>
          <a href="/dashboard/send">Send a message</a> from here and watch it arrive.
        </li>
      </ol>
    </Card>
  );
}

function MessageStats({ statistics }: { readonly statistics: Statistics }) {
  const { series, credits_used, conversations } = statistics;
  const [good, bad] = [arrived(statistics), failed(statistics)];
  const ended = good + bad;
  return (
    <>
      <Stat
        label="Delivered"
        value={number(good)}
        note={
          <>
            {ended === 0 ? 'no message has ended yet: ' : `${percent(good / ended)} of those that ended: `}
            <Parts of={statistics} states={['delivered', 'read']} />
            <Sparkline label="Delivered over the period" values={series.map(arrived)} />
          </>
        }
      />
      <Stat
        label="Failed"
        value={number(bad)}
        note={
          <>
            <Parts of={statistics} states={['failed', 'expired', 'rejected']} />
            <Sparkline label="Failed over the period" values={series.map(failed)} />
          </>
        }
      />
      <Stat
        label="On the way"
        value={number(statistics.queued + statistics.sent)}
        note={<Parts of={statistics} states={['queued', 'sent']} />}
      />
      <Stat
        label="Credits used"
        value={amount(credits_used)}
        note={
          <>
            {conversations === 0 ? 'less what was refunded' : `${counted(conversations, 'conversation')} among them`}
            <Sparkline label="Credits used over the period" values={series.map((step) => step.credits_used)} />
          </>
        }
        href="/dashboard/credits"
      />
    </>
  );
}

/** The states that add up to a number, each a link to its list: a list filters by one state or all. */
function Parts({ of, states }: { readonly of: Statistics; readonly states: readonly State[] }) {
  return states.map((state, i) => (
    <span key={state}>
      {i > 0 && ', '}
      <a href={listOf(state, of.from)}>
        {number(of[state])} {state}
      </a>
    </span>
  ));
}

interface SparklineProps {
  /** For screen readers: "Messages an hour, 120 at most". */
  readonly label: string;
  readonly values: readonly number[];
}

const WIDTH = 120;
const HEIGHT = 28;

/** A small line chart without axes. */
function Sparkline({ label, values }: SparklineProps) {
  const most = Math.max(...values, 1);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`,
  );
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
      <polyline points={points.join(' ')} />
    </svg>
  );
}

export function ErrorTable({ rows }: { readonly rows: readonly ErrorRow[] }) {
  if (rows.length === 0) return <Empty icon="check">No message of this period failed.</Empty>;
  return (
    <Table
      caption="Error codes"
      rows={rows}
      rowKey={({ error_code }) => error_code}
      columns={[
        { head: 'Code', cell: ({ error_code }) => <code>{error_code}</code> },
        {
          head: 'What happened, what to do',
          cell: ({ cause = '', advice = '' }) => <Words text={`${cause} ${advice}`} />,
        },
        { head: 'Messages', kind: 'number', cell: ({ messages }) => number(messages) },
      ]}
    />
  );
}

const PERIODS = [
  { href: '/dashboard', label: '24 hours' },
  { href: '/dashboard?period=7d', label: '7 days' },
  { href: '/dashboard?period=30d', label: '30 days' },
] as const;

type Statistics = AnswerOf<typeof accountStatistics>;
type OperatorRow = Statistics['operators'][number];

type ErrorRow = Statistics['errors'][number];

const arrived = ({ delivered, read }: Pick<Statistics, 'delivered' | 'read'>): number => delivered + read;
const failed = ({ failed: lost, expired, rejected }: Pick<Statistics, 'failed' | 'expired' | 'rejected'>): number =>
  lost + expired + rejected;

/** "2.4 s", "3 min", "1.5 h". */
function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 90) return `${amount(seconds)} s`;
  if (seconds < 5_400) return `${amount(Math.round(seconds / 60))} min`;
  return `${amount(Math.round(seconds / 360) / 10)} h`;
}

type State = 'queued' | 'sent' | 'delivered' | 'read' | 'failed' | 'expired' | 'rejected';

/** The messages in this state since the period began. */
function listOf(state: State, from: string): string {
  return `/dashboard/messages?${new URLSearchParams({ state, created_from: new Date(from).toISOString() })}`;
}

/** Something that is wrong now, as accounts and operators get it. */
type Condition = AnswerOf<typeof accountOverview>['conditions'][number] &
  Partial<AnswerOf<typeof operatorOverview>['conditions'][number]>;

interface ConditionsProps {
  /** The most urgent first. */
  readonly of: readonly Condition[];
  readonly more?: boolean;
  /** Shown when there are none. Absent: nothing is shown. */
  readonly none?: string;
}

export function Conditions({ of, more = false, none }: ConditionsProps) {
  if (of.length === 0) return none === undefined ? null : <Notice tone="good">{none}</Notice>;
  const urgent = of.filter(({ severity }) => severity === 'urgent').length;
  return (
    <Card title="Wrong now" lead={lead(urgent, of.length - urgent, more)}>
      <ul class="conditions">
        {of.map((one) => (
          <li key={one.condition_id}>
            <Badge tone={one.severity === 'urgent' ? 'bad' : 'warn'}>
              {one.severity === 'urgent' ? 'Act now' : 'Look at it'}
            </Badge>
            <div>
              <p>
                <What of={one} />{' '}
                <span class="soft">
                  Since <Time at={one.since} />
                </span>
              </p>
              <p class="soft">
                <Words text={one.todo} />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function lead(urgent: number, look: number, more: boolean): string {
  const parts = [
    ...(urgent > 0 ? [`${urgent} to act on now`] : []),
    ...(look > 0 ? [`${counted(look, 'thing')} to look at`] : []),
  ];
  return `${parts.join(', ')}${more ? ', and more' : ''}.`;
}

/** Links to where one can look into it; with the account's name if it is about one. */
function What({ of }: { readonly of: Condition }) {
  const { about, about_id: id, account_id: account, account_name: name, words } = of;
  if (account != null) {
    return (
      <>
        <a href={`/dashboard/admin/accounts/${account}`}>{name ?? account}</a>: <Words text={words} />
      </>
    );
  }
  const page = PAGES[about];
  if (page === undefined || id === '') return <Words text={words} />;
  return (
    <a href={page(id)}>
      <Words text={words} />
    </a>
  );
}

/** The page for each kind of thing that a condition is about. */
const PAGES: Readonly<Record<string, (id: string) => string>> = {
  carrier: (id) => `/dashboard/admin/carriers/${id}`,
  route: () => '/dashboard/admin/routes',
  webhook: (id) => `/dashboard/webhooks/${id}`,
  prefix: () => '/dashboard/limits',
};
