import { type DeliveryDocument, triesMade } from '../../shared/events/webhooks/delivery.ts';
import type { Outcome } from '../../shared/events/webhooks/delivery-store.ts';
import type { PostResult } from '../../shared/events/webhooks/posting/post.ts';
import { isAcknowledged } from '../../shared/events/webhooks/result-words.ts';
import { nextTry } from './retry-schedule.ts';

/**
 * Decides what happens to a delivery after a post: one update, or a part of its group's. The post took place between `startedAt` and `now`.
 * `random` is from 0 to 1.
 */
export function judge(
  delivery: DeliveryDocument,
  { result, durationMs, excerpt, retryAfter }: PostResult,
  { startedAt, now, random }: { readonly startedAt: Date; readonly now: Date; readonly random: number },
): Outcome {
  const success = isAcknowledged(result);
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
