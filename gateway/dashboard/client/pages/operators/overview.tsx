import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { operatorCharts } from '../../../../endpoints/statistics/charts.ts';
import type { operatorOverview, operatorQueues } from '../../../../endpoints/traffic/overview.ts';
import { useLive } from '../../api/live.ts';
import { useLoad } from '../../api/load.ts';
import { AccountLink } from '../../parts/account.tsx';
import { Table } from '../../parts/list.tsx';
import { Card, Empty, Loading, PageHead, Tabs } from '../../parts/page.tsx';
import { Plot, type PlotTone } from '../../parts/plot.tsx';
import { counted, number, Stat, Stats, Time } from '../../parts/value.tsx';
import { Conditions } from '../overview.tsx';

type Overview = AnswerOf<typeof operatorOverview>;

const PATH = '/v2/admin/overview';

export function OperatorOverviewPage() {
  const loaded = useLoad<Overview>(PATH);
  const live = useLive<Overview>('overview');
  return (
    <>
      <PageHead title="Operations" lead="What is wrong now, and what waits. It changes while you look." />
      <Loading of={loaded}>
        {(data) => {
          const now = live ?? data;
          return (
            <>
              <Conditions of={now.conditions} more={now.more_conditions} none="Nothing is wrong." />
              <Totals now={now} />
              <Card
                title="Queues"
                lead="What waits to leave for the first time, by priority class, with the oldest waiting. What a carrier refused for now waits elsewhere for its next try: the last chart counts it, and after a minute it stands above."
              >
                <Queues queues={now.queues} />
              </Card>
              <Charts />
            </>
          );
        }}
      </Loading>
    </>
  );
}

function Totals({ now }: { readonly now: Overview }) {
  const { carriers, approvals, accounts } = now;
  const waiting = approvals.senders + approvals.ctas + approvals.templates;
  return (
    <Stats>
      <Stat label="Carriers bound" value={`${carriers.bound} of ${carriers.all}`} href="/dashboard/admin/carriers" />
      <Stat
        label="Waiting for a decision"
        value={number(waiting)}
        note={`${counted(approvals.senders, 'sender')}, ${counted(approvals.ctas, 'link')}, ${counted(approvals.templates, 'template')}`}
        href="/dashboard/admin/approvals"
      />
      <Stat
        label="Accounts"
        value={number(accounts.all)}
        note={accounts.held === 0 ? 'none is suspended' : `${number(accounts.held)} suspended or paused`}
        href="/dashboard/admin/accounts"
      />
    </Stats>
  );
}

type Queue = AnswerOf<typeof operatorQueues>['queues'][number];

function Queues({ queues }: { readonly queues: readonly Queue[] }) {
  if (queues.length === 0) return <Empty icon="queue">Nothing waits to leave for the first time.</Empty>;
  return (
    <Table
      caption="Queues"
      rows={queues}
      rowKey={({ path, lane }) => `${path} ${lane}`}
      columns={[
        { head: 'Priority', cell: ({ lane }) => lane },
        { head: 'For', cell: ({ path, carriers }) => carriers?.join(', then ') ?? path },
        {
          head: 'Waiting',
          kind: 'number',
          cell: ({ waiting, more }) => `${more ? 'more than ' : ''}${number(waiting)}`,
        },
        { head: 'Accounts', kind: 'number', cell: ({ accounts }) => number(accounts) },
        {
          head: 'Oldest',
          cell: ({ oldest_at, oldest_account_id: id }) => (
            <>
              <Time at={oldest_at} />, <AccountLink id={id} />
            </>
          ),
        },
      ]}
    />
  );
}

type OperatorCharts = AnswerOf<typeof operatorCharts>;
type Values = OperatorCharts['carriers'][number]['waiting'];

const PERIODS = [
  { href: '/dashboard/admin', label: '24 hours' },
  { href: '/dashboard/admin?period=7d', label: '7 days' },
  { href: '/dashboard/admin?period=30d', label: '30 days' },
] as const;
/** One line for each; more could not be told apart. `GET /v2/admin/charts` has the rest. */
const TONES: readonly PlotTone[] = ['accent', 'good', 'warn', 'bad', 'soft'];

function Charts() {
  const { query } = useLocation();
  const loaded = useLoad<OperatorCharts>('/v2/admin/charts', { period: query.period ?? '24h' });
  return (
    <>
      <Tabs label="Period" tabs={PERIODS} />
      <Loading of={loaded}>
        {({ step, times, messages, operators, carriers }) => {
          const time = { times, days: step === 'day' };
          const by = <One extends { readonly name: string }>(all: readonly One[], values: (one: One) => Values) =>
            TONES.flatMap((tone, i) => {
              const one = all[i];
              return one === undefined ? [] : [{ name: one.name, tone, values: values(one) }];
            });
          const named = operators.map((one) => ({ ...one, name: one.operator }));
          const summary = `By ${step}, the highest of each.`;
          return (
            <>
              <Card>
                <Plot
                  title="Traffic"
                  summary={`Messages by the ${step} in which they were made.`}
                  {...time}
                  series={[
                    { name: 'Delivered or read', tone: 'good', values: messages.delivered },
                    { name: 'Sent, no receipt yet', tone: 'accent', values: messages.sent },
                    { name: 'Waiting', tone: 'warn', values: messages.waiting },
                    { name: 'Failed', tone: 'bad', values: messages.failed },
                  ]}
                />
              </Card>
              <Card>
                <Plot
                  title="Delivery rate, in %"
                  summary="Of the messages whose end is known, by who delivered them."
                  {...time}
                  series={by(named, (one) => one.delivery_rate.map((part) => part && Math.round(part * 1_000) / 10))}
                />
              </Card>
              <Card>
                <Plot
                  title="Time to delivery, in seconds"
                  summary="Half of the messages arrived within this time."
                  {...time}
                  series={by(named, (one) => one.seconds_p50)}
                />
              </Card>
              <Card>
                <Plot
                  title="Time to the answer of a carrier, in ms"
                  summary={`99 of 100 submits were answered within this time. ${summary}`}
                  {...time}
                  series={by(carriers, (one) => one.answer_ms_p99)}
                />
              </Card>
              <Card>
                <Plot
                  title="Waiting for a carrier"
                  summary={`In queues that it serves, and for their next try. ${summary}`}
                  {...time}
                  series={by(carriers, (one) => one.waiting)}
                />
              </Card>
            </>
          );
        }}
      </Loading>
    </>
  );
}
