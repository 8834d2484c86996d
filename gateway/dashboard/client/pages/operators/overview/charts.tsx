import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { operatorCharts } from '../../../../../endpoints/statistics/charts.ts';
import { useLoad } from '../../../api/load.ts';
import { Card, Loading } from '../../../parts/page.tsx';
import { Plot, type PlotTone } from '../../../parts/plot.tsx';
import { Tabs } from '../../../parts/tabs.tsx';

type OperatorCharts = AnswerOf<typeof operatorCharts>;
type Values = OperatorCharts['carriers'][number]['waiting'];

const PERIODS = [
  { href: '/dashboard/admin', label: '24 hours' },
  { href: '/dashboard/admin?period=7d', label: '7 days' },
  { href: '/dashboard/admin?period=30d', label: '30 days' },
] as const;
/** More lines than these cannot be told apart: the others are in the table of `GET /v2/admin/charts`. */
const TONES: readonly PlotTone[] = ['accent', 'good', 'warn', 'bad', 'soft'];

/** Traffic, delivery, latency and queues over time. */
export function Charts() {
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
