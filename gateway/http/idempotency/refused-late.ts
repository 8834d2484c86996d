import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { RETRY_AFTER } from '../answer.ts';
import type { Attempt, Refused } from './action.ts';

/**
 * Refuses an attempt whose time (`payBy`) is over, because another request with the same Idempotency-Key may have begun by now. For
 * actions that no account pays for; they call it right before they write. Undefined while there is time. A write that comes late
 * nevertheless does no harm: it has the attempt's own id, or repeats what was written.
 */
export function refusedLate(clock: Clock, payBy: Attempt<string>['payBy']): Refused | undefined {
  if (payBy === undefined || clock.now() < payBy) return undefined;
  return { kind: 'refused', problem: ['store_unavailable', { headers: RETRY_AFTER }] };
}
