import { SECONDS } from '../../../shared/messages/statistics-hour.ts';

/**
 * The time in seconds within which this part (0 to 1) of the messages was delivered. `within` has the counts by class (`SECONDS`).
 * Those of a class are taken as spread evenly over it. The last class has no end, so the result is its beginning. Null without any
 * message.
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
