import { z } from 'zod';
import { listCarriers } from '../../../shared/carriers/carrier-store.ts';
import { type Peaks, readPeaks } from '../../../shared/conditions/peaks.ts';
import {
  ALL,
  countedFrom,
  type HourDocument,
  hourStart,
  readHours,
  readNewestCount,
} from '../../../shared/messages/statistics.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { decimal, named, text, time, whole } from '../../api/shapes.ts';
import { choice, withDefault } from '../../http/fields/field.ts';
import { PERIODS, type PeriodName, quantile, stepsOf } from './statistics.ts';

/** Traffic, delivery, latency and waiting messages over time, for operators: one value per step of the period. */

const counts = z.array(whole());
const values = (description: string) => z.array(decimal().nullable()).meta({ description });

const OperatorCharts = named('OperatorCharts', {
  period: z.enum(['24h', '7d', '30d']),
  step: z.enum(['hour', 'day']),
  counted_at: time('When messages were counted last.', '2026-11-22T14:05:00+00:00').nullable(),
  times: z.array(time()).meta({ description: 'The beginning of each step, in UTC.' }),
  messages: z.strictObject({ delivered: counts, sent: counts, waiting: counts, failed: counts }).meta({
    description: 'Messages of all accounts that were made in each step, by what has become of them.',
  }),
  operators: z
    .array(
      z.strictObject({
        operator: text(undefined, { example: 'Airtel' }),
        delivery_rate: values('Of the messages whose end is known, from 0 to 1.'),
        seconds_p50: values('Within this time from `sent` half of the delivered messages arrived.'),
      }),
    )
    .meta({ description: 'The six networks and carriers with the most messages.' }),
  carriers: z.array(
    z.strictObject({
      carrier_id: text(undefined, { example: 'airtel' }),
      name: text(undefined, { example: 'Airtel' }),
      waiting: values('The most messages that waited for it, also for their next try.'),
      answer_ms_p50: values('The longest time to the answer of a submit: half of a thousand were faster.'),
      answer_ms_p99: values('Of a thousand 990 were faster.'),
    }),
  ),
});

const NAMES = Object.keys(PERIODS) as PeriodName[]; // its own keys
const SHOWN_OPERATORS = 6;
/** A month is 1,440 small documents. */
const COST = 3;

export const operatorCharts = endpoint({
  id: 'operatorCharts',
  method: 'get',
  path: '/v2/admin/charts',
  tag: 'Operators',
  summary: 'Traffic, delivery, latency and queues over time',
  description: 'Extension. From the hourly counts, and from peaks that are kept for a month. Counts as three requests.',
  scopes: ['admin:read'],
  query: { period: withDefault(choice(NAMES, 'The last 24 hours or 7 days by hour, or 30 days by day.'), '24h') },
  reads: COST,
  answer: OperatorCharts,
  async handle({ db, clock }, { query: { period } }) {
    const now = clock.now();
    const { step, stepMs } = PERIODS[period];
    const steps = stepsOf(period, now);
    const [from = now] = steps;
    const [hours, peaks, countedAt, carriers] = await Promise.all([
      readHours(db, ALL, from),
      readPeaks(db, from),
      readNewestCount(db),
      listCarriers(db),
    ]);
    const stepOf = (at: Date) => Math.floor((at.getTime() - from.getTime()) / stepMs);
    const ofStep = steps.map((_, i) => hours.filter((hour) => stepOf(countedFrom(hour)) === i));
    const peaksOfStep = steps.map((_, i) => peaks.filter(({ _id }) => stepOf(hourStart(_id)) === i));
    const highest = (id: string, name: keyof Peaks) =>
      peaksOfStep.map((of) => {
        const found = of.flatMap((hour) => hour.carriers[id]?.[name] ?? []);
        return found.length === 0 ? null : Math.max(...found);
      });
    return {
      ...{ period, step },
      counted_at: countedAt === undefined ? null : isoTimestamp(countedAt),
      times: steps.map(isoTimestamp),
      messages: {
        delivered: ofStep.map((of) => total(of, 'delivered', 'read')),
        sent: ofStep.map((of) => total(of, 'sent')),
        waiting: ofStep.map((of) => total(of, 'queued')),
        failed: ofStep.map((of) => total(of, 'failed', 'expired', 'rejected')),
      },
      operators: mostUsed(hours).map((operator) => ({ operator, ...operatorSeries(ofStep, operator) })),
      carriers: carriers.map(({ _id, name }) => ({
        ...{ carrier_id: _id, name },
        waiting: highest(_id, 'waiting'),
        answer_ms_p50: highest(_id, 'p50'),
        answer_ms_p99: highest(_id, 'p99'),
      })),
    };
  },
});

type Hour = Omit<HourDocument, 'traffic'>;

function total(hours: readonly Hour[], ...states: readonly (keyof NonNullable<Hour['states']['sms']>)[]): number {
  const counted = hours.flatMap((hour) => Object.values(hour.states));
  return counted.reduce((sum, one) => sum + states.reduce((all, state) => all + (one[state] ?? 0), 0), 0);
}

function mostUsed(hours: readonly Hour[]): readonly string[] {
  const ended = new Map<string, number>();
  for (const one of hours.flatMap(({ operators }) => operators)) {
    ended.set(one.name, (ended.get(one.name) ?? 0) + one.ended);
  }
  const ranked = [...ended].sort(([, a], [, b]) => b - a);
  return ranked.slice(0, SHOWN_OPERATORS).map(([name]) => name);
}

type Series = Pick<Shown<typeof OperatorCharts>['operators'][number], 'delivery_rate' | 'seconds_p50'>;

function operatorSeries(ofStep: readonly (readonly Hour[])[], operator: string): Series {
  const steps = ofStep.map((hours) =>
    hours.flatMap(({ operators }) => operators.filter(({ name }) => name === operator)),
  );
  return {
    delivery_rate: steps.map((counted) => {
      const ended = counted.reduce((sum, one) => sum + one.ended, 0);
      const delivered = counted.reduce((sum, one) => sum + one.delivered, 0);
      return ended === 0 ? null : Math.round((delivered / ended) * 10_000) / 10_000;
    }),
    seconds_p50: steps.map((counted) => {
      const [first, ...others] = counted.map(({ within }) => within);
      const sum = first?.map((count, at) => others.reduce((all, one) => all + (one[at] ?? 0), count));
      return sum === undefined ? null : quantile(sum, 0.5);
    }),
  };
}
