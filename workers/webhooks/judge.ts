import { type DeliveryDocument, triesMade } from '../../shared/webhooks/delivery.ts';
import type { Completion } from '../../shared/webhooks/delivery-store.ts';
import type { PostResult } from './post.ts';
import { nextTry } from './retry-schedule.ts';

/**
 * The specification says: "A receiving handler answers with HTTP 200 to acknowledge" (Events). Every 2xx counts as success, a
 * redirect does not.
 */
export function isSuccess(result: number | string): boolean {
  return typeof result === 'number' && result >= 200 && result < 300;
}

/**
 * Decides what happens to a delivery after a post: one update. The post took place between `startedAt` and `now`.
 * `random` is from 0 to 1.
 */
export function judge(
  delivery: DeliveryDocument,
  { result, durationMs, excerpt, retryAfter }: PostResult,
  { startedAt, now, random }: { readonly startedAt: Date; readonly now: Date; readonly random: number },
): Completion {
  const success = isSuccess(result);
  const attempt = {
    at: startedAt,
    result,
    durationMs,
    ...(excerpt === undefined || success ? {} : { excerpt }),
  };
  const base = { id: delivery._id, attempt };
  if (success) return { ...base, state: 'done' };
  if (result === 410) return { ...base, state: 'discarded' };
  const retryAt = nextTry({ tries: triesMade(delivery) + 1, retryAfter, now, random });
  return retryAt === undefined ? { ...base, state: 'exhausted' } : { ...base, state: 'waiting', retryAt };
}
