import type { SenderDocument } from '../../../shared/carriers/sender.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';

/** A sender as its account sees it. */
export function senderRecord({ _id, sender, routes, status, reason, createdAt, decidedAt }: SenderDocument): object {
  return {
    sender_id: _id,
    sender,
    routes,
    state: status,
    reason: reason ?? null,
    requested_at: isoTimestamp(createdAt),
    decided_at: decidedAt === undefined ? null : isoTimestamp(decidedAt),
  };
}
