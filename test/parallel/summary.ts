import type { Totals } from './run.ts';

export function summary(runs: readonly Totals[], tookMs: number): string {
  const sum = (count: 'passed' | 'failed' | 'skipped'): number => runs.reduce((all, one) => all + one[count], 0);
  const failures = runs.flatMap((one) => one.failures).map((text, i) => `  ${i + 1}) ${text}`);
  const seconds = Math.round(tookMs / 1_000);
  return [
    `\n  ${sum('passed')} passing (${Math.floor(seconds / 60)}m ${seconds % 60}s)`,
    ...(sum('skipped') > 0 ? [`  ${sum('skipped')} pending`] : []),
    ...(sum('failed') > 0 ? [`  ${sum('failed')} failing\n\n${failures.join('\n\n')}\n`] : []),
  ].join('\n');
}
