import { type PromotionalHours, promotionalDeferral } from '../../shared/messages/promotional-hours.ts';
import { HOURS_LANE } from '../../shared/messages/routing.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';

/**
 * Extension: `deferred_until` of what is accepted now and waits for the promotional hours; nothing for what leaves at once. What
 * is not valid until then expires and is refunded.
 */
export function deferral(hours: PromotionalHours, lane: number, now: Date): { readonly deferred_until?: string } {
  const opening = lane === HOURS_LANE ? promotionalDeferral(hours, now) : undefined;
  return opening === undefined ? {} : { deferred_until: isoTimestamp(opening) };
}
