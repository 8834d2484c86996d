import type { Clock } from '../runtime/clock.ts';
import { errorFields, type Log, type LogFields } from '../runtime/log.ts';
import { isStoreTrouble } from './errors.ts';

export interface AskAgain {
  readonly clock: Clock;
  readonly log: Log;
  /** For the log. */
  readonly what: LogFields;
}

/** How long a question whose answer was lost is asked again. What sweeps up behind dead processes must wait far longer. */
export const REPEAT_MS = 4_000;
const PAUSE_MS = 100;

/**
 * Asks the store something that may be asked twice, again while its answer is lost. Rejects with the store's error only while
 * nothing can have happened; `unknown` when that cannot be told.
 */
export async function untilAnswered<T>(
  { clock, log, what }: AskAgain,
  ask: () => Promise<T>,
): Promise<{ readonly answer: T } | 'unknown'> {
  const deadline = clock.monotonicMs() + REPEAT_MS;
  let asked = false;
  for (;;) {
    try {
      return { answer: await ask() };
    } catch (error) {
      if (!isStoreTrouble(error)) {
        if (!asked) throw error;
        // The store refuses it now. What was asked before and not answered, it may have done.
        log.warn('repeat_refused', { ...what, ...errorFields(error) });
        return 'unknown';
      }
      // Not finding a server says that nothing was sent; any other loss of the answer leaves it open.
      asked ||= !(error instanceof Error && error.name === 'MongoServerSelectionError');
      if (!asked) throw error;
      log.warn('answer_lost', { ...what, ...errorFields(error) });
      if (clock.monotonicMs() >= deadline) return 'unknown';
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
