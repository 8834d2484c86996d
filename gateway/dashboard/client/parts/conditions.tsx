import type { AnswerOf } from '../../../api/endpoint.ts';
import type { accountOverview } from '../../../endpoints/statistics/overview.ts';
import type { operatorOverview } from '../../../endpoints/traffic/overview.ts';
import { Card, Notice } from './page.tsx';
import { Badge, counted, Time, Words } from './value.tsx';

/** Something that is wrong now, as an account or operators see it. */
type Condition = AnswerOf<typeof accountOverview>['conditions'][number] &
  Partial<AnswerOf<typeof operatorOverview>['conditions'][number]>;

interface ConditionsProps {
  /** The most urgent first. */
  readonly of: readonly Condition[];
  readonly more?: boolean;
  /** What to say when there are none. Absent: nothing. */
  readonly none?: string;
}

/** What is wrong now, since when, and what to do. */
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

/** What is the case, as a link to where one looks into it; of an account, with its name before. */
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

/** By what a condition is about: the page that shows it. */
const PAGES: Readonly<Record<string, (id: string) => string>> = {
  carrier: (id) => `/dashboard/admin/carriers/${id}`,
  route: () => '/dashboard/admin/routes',
  webhook: (id) => `/dashboard/webhooks/${id}`,
  prefix: () => '/dashboard/limits',
};
