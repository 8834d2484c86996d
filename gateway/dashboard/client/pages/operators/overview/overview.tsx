import { useLive } from '../../../api/live.ts';
import { useLoad } from '../../../api/load.ts';
import { type Condition, Conditions } from '../../../parts/conditions.tsx';
import { Stat, Stats } from '../../../parts/facts.tsx';
import { counted, number } from '../../../parts/number.ts';
import { Card, Loading, PageHead } from '../../../parts/page.tsx';
import { type Queue, Queues } from './queues.tsx';

/** As `GET /v2/admin/overview` shows it. */
interface Overview {
  readonly conditions: readonly Condition[];
  readonly more_conditions: boolean;
  readonly carriers: { readonly all: number; readonly bound: number };
  readonly queues: readonly Queue[];
  readonly approvals: { readonly senders: number; readonly templates: number };
  readonly accounts: { readonly all: number; readonly held: number };
}

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
              <Card title="Queues" lead="What waits to leave, by priority class, with the oldest waiting.">
                <Queues queues={now.queues} />
              </Card>
            </>
          );
        }}
      </Loading>
    </>
  );
}

function Totals({ now }: { readonly now: Overview }) {
  const { carriers, approvals, accounts } = now;
  const waiting = approvals.senders + approvals.templates;
  return (
    <Stats>
      <Stat label="Carriers bound" value={`${carriers.bound} of ${carriers.all}`} href="/dashboard/admin/carriers" />
      <Stat
        label="Waiting for a decision"
        value={number(waiting)}
        note={`${counted(approvals.senders, 'sender')}, ${counted(approvals.templates, 'template')}`}
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
