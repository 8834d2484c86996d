import { z } from 'zod';
import { CHANNEL_NAMES } from '../../../shared/messages/document/channel.ts';
import {
  countedFrom,
  HOUR_MS,
  type HourDocument,
  type OperatorCounts,
  perDay,
  readHours,
  readNewestCount,
  SECONDS,
  type ShownState,
} from '../../../shared/messages/statistics.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { decimal, text, whole } from '../../api/shapes.ts';
import { choice, withDefault } from '../../http/fields/field.ts';
import { explainCounted } from '../messages/explain/explain.ts';

const DAY_MS = 24 * HOUR_MS;

/** Hours and days are UTC; the running one is the last. */
export const PERIODS = {
  '24h': { steps: 24, stepMs: HOUR_MS, step: 'hour' },
  '7d': { steps: 7 * 24, stepMs: HOUR_MS, step: 'hour' },
  '30d': { steps: 30, stepMs: DAY_MS, step: 'day' },
} as const;

export type PeriodName = keyof typeof PERIODS;

export function stepsOf(period: PeriodName, now: Date): readonly Date[] {
  const { steps, stepMs } = PERIODS[period];
  const running = Math.floor(now.getTime() / stepMs) * stepMs;
  return Array.from({ length: steps }, (_, i) => new Date(running - (steps - 1 - i) * stepMs));
}

/** What became of an account's messages, as the maintenance worker last counted it. */

/** In the order in which they are shown. The types demand all of them. */
const NONE: Readonly<Record<ShownState, number>> = {
  queued: 0,
  sent: 0,
  delivered: 0,
  read: 0,
  failed: 0,
  expired: 0,
  rejected: 0,
  received: 0,
};
const STATES = Object.keys(NONE) as ShownState[]; // its keys
/** The most frequent ones. */
const LISTED_MAX = 10;

type Sum = Record<ShownState | 'total' | 'credits_used' | 'conversations', number>;

const dateTime = (example: string) => text(undefined, { format: 'date-time', example });

const SUM = {
  total: whole('Messages made in that time, in both directions.', { example: 121 }),
  queued: whole(),
  sent: whole(undefined, { example: 1 }),
  delivered: whole(undefined, { example: 117 }),
  read: whole(),
  failed: whole(undefined, { example: 3 }),
  expired: whole(),
  rejected: whole(),
  received: whole(),
  credits_used: whole('What they cost, without what was refunded.', { example: 121 }),
  conversations: whole('Conversations of the chat-app channel that were paid for.'),
};

const OperatorStatistics = z
  .object({
    operator: text(undefined, { example: 'alpha' }),
    channel: z.enum(CHANNEL_NAMES),
    ended: whole('Messages whose end is known.', { example: 120 }),
    delivered: whole(undefined, { example: 117 }),
    delivery_rate: decimal('`delivered` of `ended`, from 0 to 1.', { example: 0.975 }),
    seconds_p50: decimal('Within this time from `sent` half of the delivered messages arrived, from counts by class.', {
      example: 2.4,
    }).nullable(),
    seconds_p95: decimal(undefined, { example: 17.1 }).nullable(),
  })
  .meta({ id: 'OperatorStatistics', description: 'The figures of one operator or network.' });

const ErrorStatistics = z
  .object({
    error_code: text(undefined, { example: '1' }),
    messages: whole(undefined, { example: 3 }),
    cause: text(undefined, { example: 'The number is not in use.' }).optional(),
    advice: text(undefined, {
      example: 'Remove the number from your list, or ask the recipient for the right one.',
    }).optional(),
  })
  .meta({ id: 'ErrorStatistics', description: 'How many messages failed with a code.' });

const MessageStatistics = z
  .object({
    period: z.enum(['24h', '7d', '30d']),
    step: z.enum(['hour', 'day']),
    from: dateTime('2026-11-21T15:00:00+00:00'),
    until: dateTime('2026-11-22T14:05:20+00:00'),
    counted_at: text('When hours were counted last. What happened later is not in the numbers yet.', {
      format: 'date-time',
      example: '2026-11-22T14:05:00+00:00',
    }).nullable(),
    ...SUM,
    credits_per_day: decimal(undefined, { example: 121 }),
    series: z.array(
      z
        .object({ at: dateTime('2026-11-22T14:00:00+00:00'), ...SUM })
        .meta({ id: 'StatisticsStep', description: 'The figures of one step of time.' }),
    ),
    operators: z.array(OperatorStatistics),
    errors: z.array(ErrorStatistics),
  })
  .meta({ id: 'MessageStatistics' });

const NAMES = Object.keys(PERIODS) as PeriodName[]; // its own keys

/** In requests: a month is at most 720 small documents. */
const COST = 2;

export const accountStatistics = endpoint({
  id: 'accountStatistics',
  call: 'account.statistics',
  method: 'get',
  path: '/v2/account/statistics',
  tag: 'Account',
  summary: 'Messages by state over time',
  description:
    'Extension. What became of the messages made in a period, by hour or day (UTC), carrier and error code. It is counted from the messages, again and again for eleven days because receipts come late; `counted_at` says when last. Counts as two requests.',
  scopes: ['read'],
  test: 'apart',
  query: {
    period: withDefault(choice(NAMES, 'The last 24 hours or 7 days by hour, or 30 days by day.'), '24h'),
  },
  reads: COST,
  answer: MessageStatistics,
  async handle({ db, clock }, { caller, query: { period } }) {
    const now = clock.now();
    const [from = now] = stepsOf(period, now);
    const [hours, countedAt] = await Promise.all([readHours(db, caller.account._id, from), readNewestCount(db)]);
    return statisticsRecord(period, hours, countedAt, now);
  },
});

function statisticsRecord(
  period: PeriodName,
  hours: readonly Omit<HourDocument, 'traffic'>[],
  countedAt: Date | undefined,
  now: Date,
): Shown<typeof MessageStatistics> {
  const { step, stepMs } = PERIODS[period];
  const series = new Map(stepsOf(period, now).map((at) => [at.getTime(), noSum()]));
  const all = noSum();
  for (const hour of hours) {
    const at = Math.floor(countedFrom(hour).getTime() / stepMs) * stepMs;
    for (const sum of [all, series.get(at)]) if (sum !== undefined) add(sum, hour);
  }
  const [first] = hours;
  const [from = now] = stepsOf(period, now);
  return {
    period,
    step,
    from: isoTimestamp(from),
    until: isoTimestamp(now),
    counted_at: countedAt === undefined ? null : isoTimestamp(countedAt),
    ...all,
    credits_per_day: perDay(all.credits_used, first && countedFrom(first), now),
    series: [...series].map(([at, sum]) => ({ at: isoTimestamp(new Date(at)), ...sum })),
    operators: operatorRecords(hours),
    errors: errorRecords(hours),
  };
}

function noSum(): Sum {
  return { total: 0, ...NONE, credits_used: 0, conversations: 0 };
}

function add(sum: Sum, { states, credits, conversations }: Omit<HourDocument, 'traffic'>): void {
  for (const counts of Object.values(states)) {
    for (const state of STATES) {
      const count = counts[state] ?? 0;
      sum[state] += count;
      sum.total += count;
    }
  }
  sum.credits_used += credits;
  sum.conversations += conversations;
}

function operatorRecords(hours: readonly Omit<HourDocument, 'traffic'>[]): Shown<typeof OperatorStatistics>[] {
  // By channel and name: a carrier of SMS may be named like the chat-app channel.
  const sums = new Map<string, OperatorCounts>();
  for (const { name, channel, ended, delivered, within } of hours.flatMap(({ operators }) => operators)) {
    const key = `${channel} ${name}`;
    const sum = sums.get(key) ?? { ended: 0, delivered: 0, within: within.map(() => 0) };
    sums.set(key, {
      ...{ name, channel },
      ended: sum.ended + ended,
      delivered: sum.delivered + delivered,
      within: sum.within.map((count, at) => count + (within[at] ?? 0)),
    });
  }
  return [...sums.values()]
    .sort((a, b) => b.ended - a.ended)
    .slice(0, LISTED_MAX)
    .map(({ name, channel, ended, delivered, within }) => ({
      operator: name,
      channel,
      ended,
      delivered,
      delivery_rate: Math.round((delivered / ended) * 10_000) / 10_000,
      seconds_p50: quantile(within, 0.5),
      seconds_p95: quantile(within, 0.95),
    }));
}

function errorRecords(hours: readonly Omit<HourDocument, 'traffic'>[]): Shown<typeof ErrorStatistics>[] {
  const sums = new Map<string, number>();
  for (const { code, messages } of hours.flatMap(({ errors }) => errors)) {
    sums.set(code, (sums.get(code) ?? 0) + messages);
  }
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, LISTED_MAX)
    .map(([code, messages]) => {
      const { cause, advice } = explainCounted(code);
      return { error_code: code, messages, cause, advice };
    });
}

/**
 * The time in seconds within which this part (0 to 1) of the messages was delivered; null without any. `within` has the
 * counts by class (`SECONDS`), taken as evenly spread over it. The last class has no end, so the result is its
 * beginning.
 */
export function quantile(within: readonly number[], part: number): number | null {
  const total = within.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let before = 0;
  for (const [at, count] of within.entries()) {
    if (count > 0 && before + count >= total * part) {
      const from = SECONDS[at - 1] ?? 0;
      const to = SECONDS[at] ?? from;
      const seconds = from + ((to - from) * (total * part - before)) / count;
      return Math.round(seconds * 10) / 10;
    }
    before += count;
  }
  return SECONDS.at(-1) ?? null;
}
