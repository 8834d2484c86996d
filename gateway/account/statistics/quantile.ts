import { SECONDS } from '../../../shared/statistics/hour.ts';

/**
 * The time in seconds within which `part` of the messages were delivered, from counts by class (`SECONDS`), even within a class.
 * Null without any. In the last class, which has no end, its begin.
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
