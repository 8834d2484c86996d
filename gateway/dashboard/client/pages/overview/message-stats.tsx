import { Stat } from '../../parts/facts.tsx';
import { amount, counted, number } from '../../parts/number.ts';
import { arrived, failed, listOf, percent, type State, type Statistics } from './statistics.ts';

/** The period in four numbers. */
export function MessageStats({ statistics }: { readonly statistics: Statistics }) {
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

/** What a number is the sum of. Each leads to the list that it counts: a list has one state, or all. */
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
  /** What it shows, in words: "Messages an hour, 120 at most". */
  readonly label: string;
  readonly values: readonly number[];
}

const WIDTH = 120;
const HEIGHT = 28;

/** A small line without axes, beside the number that it belongs to. */
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
