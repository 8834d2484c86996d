import { Stat } from '../../parts/facts.tsx';
import { amount, counted, number } from '../../parts/number.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { arrived, failed, listOf, percent, type Statistics } from './statistics.ts';

/** The period in four numbers. Each leads to the list that it counts. */
export function MessageStats({ statistics }: { readonly statistics: Statistics }) {
  const { series, from, credits_used, conversations } = statistics;
  const [good, bad] = [arrived(statistics), failed(statistics)];
  const ended = good + bad;
  return (
    <>
      <Stat
        label="Delivered"
        value={number(good)}
        note={
          <>
            {ended === 0 ? 'no message has ended yet' : `${percent(good / ended)} of those that ended`}
            <Sparkline label="Delivered over the period" values={series.map(arrived)} />
          </>
        }
        href={listOf('delivered', from)}
      />
      <Stat
        label="Failed"
        value={number(bad)}
        note={
          <>
            failed, expired or rejected
            <Sparkline label="Failed over the period" values={series.map(failed)} />
          </>
        }
        href={listOf('failed', from)}
      />
      <Stat
        label="On the way"
        value={number(statistics.queued + statistics.sent)}
        note="waiting, or sent without a receipt yet"
        href={listOf('queued', from)}
      />
      <Stat
        label="Credits used"
        value={amount(credits_used)}
        note={
          <>
            {conversations === 0 ? 'refunds not counted' : `${counted(conversations, 'conversation')} among them`}
            <Sparkline label="Credits used over the period" values={series.map((step) => step.credits_used)} />
          </>
        }
        href="/dashboard/credits"
      />
    </>
  );
}
