import type { Clock } from '../runtime/clock.ts';
import { errorFields, type Log, type LogFields } from '../runtime/log.ts';
import { isStoreTrouble } from './errors.ts';

export interface AskAgain {
  readonly clock: Clock;
  readonly log: Log;
  /** Describes the operation in the log. */
  readonly what: LogFields;
  /** When the first attempt began, by the monotonic clock. Only needed if that was before the call. */
  readonly sinceMs?: number;
}

/**
 * How long an operation is repeated after its answer was lost. The sweep that cleans up after dead processes must wait far
 * longer.
 */
export const REPEAT_MS = 4_000;
const PAUSE_MS = 100;

/**
 * Runs an operation that may run twice, again while its answer is lost. Rejects with the store's error only when it certainly had
 * no effect; `unknown` when that cannot be told.
 */
export async function untilAnswered<T>(
  { clock, log, what, sinceMs = clock.monotonicMs() }: AskAgain,
  ask: () => Promise<T>,
): Promise<{ readonly answer: T } | 'unknown'> {
  const deadline = sinceMs + REPEAT_MS;
  let asked = false;
  for (;;) {
    try {
      return { answer: await ask() };
    } catch (error) {
      if (!isStoreTrouble(error)) {
        if (!asked) throw error;
        // The store refuses it now, but it may have done the earlier attempt whose answer was lost.
        log.warn('repeat_refused', { ...what, ...errorFields(error) });
        return 'unknown';
      }
      // "No server found" means that nothing was sent. Any other lost answer leaves it open.
      asked ||= !(error instanceof Error && error.name === 'MongoServerSelectionError');
      if (!asked) throw error;
      log.warn('answer_lost', { ...what, ...errorFields(error) });
      if (clock.monotonicMs() >= deadline) return 'unknown';
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
