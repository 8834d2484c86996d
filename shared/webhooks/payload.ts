import type { HistoryEntry, MessageDocument } from '../messages/message.ts';
import { isoTimestamp } from '../runtime/clock.ts';
import type { SmsEvent } from './endpoint.ts';

export function eventName(entry: HistoryEntry): SmsEvent {
  return `message.${entry.state}`;
}

/**
 * The exact JSON that is signed and posted for a state change: flat, members in the specification's order ("Payload of
 * message.delivered"). Spec gap: the other events have the same shape without `delivered_at`; `operator` is null while
 * nobody told it, `error_code` and `error_reason` are there (perhaps null) in `message.failed`, `message.expired` and
 * `message.rejected`; `reference` is there when the sender gave one.
 */
export function eventBody(message: MessageDocument, entry: HistoryEntry): string {
  const delivered = entry.state === 'delivered';
  const errored = !delivered && entry.state !== 'sent';
  return JSON.stringify({
    event: eventName(entry),
    message_id: message._id,
    to: message.to,
    // The state of this change: the message may have gone further by the time that a redo announces it.
    status: entry.state,
    operator: message.operator ?? (delivered ? deliveredBy(message) : null),
    ...(delivered ? { delivered_at: isoTimestamp(message.deliveredAt ?? entry.at) } : {}),
    timestamp: isoTimestamp(entry.at),
    ...(errored ? { error_code: message.errorCode ?? null, error_reason: message.errorReason ?? null } : {}),
    ...(message.reference === undefined ? {} : { reference: message.reference }),
  });
}

/** `operator` of message.delivered is never null (decisions.md, Webhooks): the carrier's short name when no better one was stored. */
function deliveredBy(message: MessageDocument): string {
  return message.claim?.carrier ?? 'unknown';
}
