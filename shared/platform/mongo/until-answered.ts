import type { Clock } from '../runtime/clock.ts';
import { errorFields, type Log, type LogFields } from '../runtime/log.ts';
import { hadNoEffect, isOverload, isStoreTrouble } from './errors.ts';

interface AskAgain {
  readonly clock: Clock;
  readonly log: Log;
  readonly what: LogFields;
  /** When the first attempt began, by the monotonic clock, if before the call. */
  readonly sinceMs?: number;
}

/** Maintenance that cleans up after dead processes waits far longer. */
export const REPEAT_MS = 4_000;
const PAUSE_MS = 100;
const OVERLOAD_PAUSE_MS = 1_600;

/**
 * The pause after an operation's `failed`th failure in a row (1, 2 …). An overloaded store is asked after a random
 * time, up to twice as long after each failure, so that all who were refused do not come back together.
 */
export function pauseMs(error: unknown, failed: number, random: () => number = Math.random): number {
  if (!isOverload(error)) return PAUSE_MS;
  return random() * Math.min(OVERLOAD_PAUSE_MS, PAUSE_MS * 2 ** failed);
}

/** Repeats it while the answer is lost. Rejects only when it surely had no effect; else `unknown`. */
export async function untilAnswered<T>(
  { clock, log, what, sinceMs = clock.monotonicMs() }: AskAgain,
  ask: () => Promise<T>,
): Promise<{ readonly answer: T } | 'unknown'> {
  const deadline = sinceMs + REPEAT_MS;
  let asked = false;
  for (let failed = 1; ; failed++) {
    try {
      return { answer: await ask() };
    } catch (error) {
      if (!isStoreTrouble(error)) {
        if (!asked) throw error;
        // The store refuses it now, but it may have done the earlier attempt whose answer was lost.
        log.warn('repeat_refused', { ...what, ...errorFields(error) });
        return 'unknown';
      }
      asked ||= !hadNoEffect(error);
      const over = clock.monotonicMs() >= deadline;
      // Nothing was done. The driver itself has looked for a server for seconds, so only an overloaded store is asked
      // again.
      if (!asked && (over || !isOverload(error))) throw error;
      log.warn('answer_lost', { ...what, ...errorFields(error) });
      if (over) return 'unknown';
      await new Promise((resolve) => setTimeout(resolve, pauseMs(error, failed)));
    }
  }
}
