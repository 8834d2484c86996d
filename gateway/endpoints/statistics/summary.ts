import {
  countedFrom,
  type HourDocument,
  type OperatorCounts,
  type ShownState,
} from '../../../shared/messages/statistics-hour.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { explain } from '../messages/explain/explain.ts';
import { PERIODS, type PeriodName, perDay, stepsOf } from './period.ts';
import { quantile } from './quantile.ts';

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
/** Error codes and carriers that are shown, the most frequent ones. */
const LISTED_MAX = 10;

type Sum = Record<ShownState | 'total' | 'credits_used' | 'conversations', number>;

/** What the hours of a period are together: totals, a series, carriers and errors. */
export function statisticsRecord(
  period: PeriodName,
  hours: readonly HourDocument[],
  countedAt: Date | undefined,
  now: Date,
): object {
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

function add(sum: Sum, { states, credits, conversations }: HourDocument): void {
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

function operatorRecords(hours: readonly HourDocument[]): object[] {
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

function errorRecords(hours: readonly HourDocument[]): object[] {
  const sums = new Map<string, number>();
  for (const { code, messages } of hours.flatMap(({ errors }) => errors)) {
    sums.set(code, (sums.get(code) ?? 0) + messages);
  }
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .slice(0, LISTED_MAX)
    .map(([code, messages]) => {
      const explanation = explain({ state: 'failed', errorCode: code });
      return { error_code: code, messages, cause: explanation?.cause, advice: explanation?.advice };
    });
}
