import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { operatorOverview, operatorQueues } from '../../../../../endpoints/traffic/overview.ts';
import { useLive } from '../../../api/live.ts';
import { useLoad } from '../../../api/load.ts';
import { AccountLink } from '../../../parts/account.tsx';
import { Conditions } from '../../../parts/conditions.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Stat, Stats } from '../../../parts/facts.tsx';
import { counted, number } from '../../../parts/number.ts';
import { Card, Loading, PageHead } from '../../../parts/page.tsx';
import { Table } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { Charts } from './charts.tsx';

/** As `GET /v2/admin/overview` shows it. */
type Overview = AnswerOf<typeof operatorOverview>;

const PATH = '/v2/admin/overview';

/** What an operator looks at first: what is wrong now, in words. */
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

/** As `GET /v2/admin/queues` shows it. */
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
