import { inspect } from 'node:util';
import { deadlineMs } from './deadlines.ts';

/** Characters shown of each side of a difference. */
const CHARACTERS_MAX = 3_000;
const PAUSE_MS = 10;
const PAUSE_MS_MAX = 100;

/**
 * Waits until `check` returns something truthy and returns it; fails with the last error or value after `forMs`. Tests
 * wait for other processes only in this way, never by a sleep.
 */
export async function eventually<T>(check: () => T | Promise<T>, what: string, forMs = 60_000): Promise<T> {
  const timeoutMs = deadlineMs(forMs);
  const began = performance.now();
  let waitedMs = 0;
  let last: unknown;
  for (;;) {
    // Checks once more at the end: a process that stood still may have got there.
    const isLast = waitedMs >= timeoutMs;
    try {
      const value = await check();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (isLast) break;
    // The pause grows with the wait, to spare a store that others use.
    const pauseMs = Math.min(PAUSE_MS_MAX, Math.max(PAUSE_MS, waitedMs / 10));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    waitedMs = performance.now() - began;
  }
  throw new Error(`not within ${timeoutMs} ms: ${what}${differenceOf(last)}`, { cause: last });
}

/** The difference that mocha shows for an assertion, but not for an assertion that is another error's cause. */
function differenceOf(error: unknown): string {
  if (!(error instanceof Error && 'actual' in error && 'expected' in error)) return '';
  const [actual, expected] = [error.actual, error.expected].map((value) =>
    inspect(value, { depth: 6, breakLength: 120, maxStringLength: 200 }).slice(0, CHARACTERS_MAX),
  );
  return `\nactual: ${actual}\nexpected: ${expected}`;
}
