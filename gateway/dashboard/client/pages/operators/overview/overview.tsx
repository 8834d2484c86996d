import { useLive } from '../../../api/live.ts';
import { useLoad } from '../../../api/load.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Stat, Stats } from '../../../parts/facts.tsx';
import { Notice } from '../../../parts/notice.tsx';
import { counted, number } from '../../../parts/number.ts';
import { Card, Loading, PageHead } from '../../../parts/page.tsx';
import { readable } from '../carriers/carrier.ts';
import { type Queue, Queues } from './queues.tsx';

interface Wrong {
  readonly severity: 'bad' | 'look';
  readonly about: 'process' | 'carrier' | 'queue' | 'provider';
  readonly id: string;
  readonly words: string;
}

/** As `GET /v2/admin/overview` shows it. */
interface Overview {
  readonly wrong: readonly Wrong[];
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
              <WrongNow wrong={now.wrong} />
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

function WrongNow({ wrong }: { readonly wrong: readonly Wrong[] }) {
  if (wrong.length === 0)
    return <Notice tone="good">Nothing is wrong: all binds are up, and nothing waits too long.</Notice>;
  return (
    <Card title="Wrong now">
      <ul>
        {wrong.map((one) => (
          <li key={one.words}>
            <Badge tone={one.severity === 'bad' ? 'bad' : 'warn'}>
              {one.severity === 'bad' ? 'Act now' : 'Look at it'}
            </Badge>{' '}
            <Words of={one} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Words({ of }: { readonly of: Wrong }) {
  const href = hrefOf(of);
  const words = readable(of.words);
  return href === undefined ? words : <a href={href}>{words}</a>;
}

function hrefOf({ about, id }: Wrong): string | undefined {
  if (about === 'carrier') return `/dashboard/admin/carriers/${id}`;
  return about === 'provider' ? '/dashboard/admin/providers' : undefined;
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
