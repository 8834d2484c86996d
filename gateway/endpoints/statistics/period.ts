import { HOUR_MS } from '../../../shared/messages/statistics-hour.ts';

const DAY_MS = 24 * HOUR_MS;

/** The periods of statistics, with the steps of their series. Hours and days are those of UTC; the running one is the last. */
export const PERIODS = {
  '24h': { steps: 24, stepMs: HOUR_MS, step: 'hour' },
  '7d': { steps: 7 * 24, stepMs: HOUR_MS, step: 'hour' },
  '30d': { steps: 30, stepMs: DAY_MS, step: 'day' },
} as const;

export type PeriodName = keyof typeof PERIODS;

/** The beginning of each step, oldest first. */
export function stepsOf(period: PeriodName, now: Date): readonly Date[] {
  const { steps, stepMs } = PERIODS[period];
  const running = Math.floor(now.getTime() / stepMs) * stepMs;
  return Array.from({ length: steps }, (_, i) => new Date(running - (steps - 1 - i) * stepMs));
}
