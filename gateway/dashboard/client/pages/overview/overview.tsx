import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useLive } from '../../api/live.ts';
import { useLoad } from '../../api/load.ts';
import { may } from '../../api/session.ts';
import { Conditions } from '../../parts/conditions.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Stat, Stats } from '../../parts/facts.tsx';
import { amount, number } from '../../parts/number.ts';
import { Card, Loading, PageHead } from '../../parts/page.tsx';
import { Plot } from '../../parts/plot.tsx';
import { Table } from '../../parts/table.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Time, utcDay } from '../../parts/time.tsx';
import { BalanceStats, type Overview } from '../credits/balance-stats.tsx';
import { ErrorTable } from './error-table.tsx';
import { MessageStats } from './message-stats.tsx';
import { arrived, duration, failed, type OperatorRow, PERIODS, percent, type Statistics } from './statistics.ts';

/** What is left, what was sent, and how it went. */
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

/** What to do with an account that has not sent anything. */
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
