import assert from 'node:assert/strict';
import { channelOf } from '../channels/channels.ts';
import type { AnyMessage } from '../messages/any-message.ts';
import type { HistoryEntry } from '../messages/message.ts';
import { isoTimestamp } from '../runtime/clock.ts';

/** A message reached a state. */
export interface StateChange {
  /** As it is now: it may have gone further by the time that a redo announces this. */
  readonly message: AnyMessage;
  /** The entry of its history that is told. */
  readonly entry: HistoryEntry;
}

/** Members that only some events have, each in its place. */
interface OwnMembers {
  readonly operator?: string;
  readonly deliveredAt?: string;
  readonly error?: { readonly error_code: string | null; readonly error_reason: string | null };
}

export function sentBody(event: string, change: StateChange): object {
  return outboundBody(event, change, {});
}

/** `operator` is never null here: what arrived was delivered by somebody. */
export function readBody(event: string, change: StateChange): object {
  return outboundBody(event, change, { operator: deliveredBy(change) });
}

/** `operator` is never null, as in `readBody`. */
export function deliveredBody(event: string, change: StateChange): object {
  const { message, entry } = change;
  const deliveredAt = isoTimestamp(message.deliveredAt ?? entry.at);
  return outboundBody(event, change, { operator: deliveredBy(change), deliveredAt });
}

/** An error that nobody explained is null, not missing. */
export function errorBody(event: string, change: StateChange): object {
  const { errorCode = null, errorReason = null } = change.message;
  return outboundBody(event, change, { error: { error_code: errorCode, error_reason: errorReason } });
}

/**
 * "Payload of message.received": a text has these six members and no others. Other types add what is their own, below the type's name; an
 * answer to a message adds its `context`. The business's number is not told: an account has one.
 */
export function receivedBody(event: string, { message, entry }: StateChange): object {
  assert('inbound' in message, 'only what a customer wrote is received');
  const { _id, from, inbound } = message;
  const { type, body, more } = inbound;
  const members = { event, from, message_id: _id, type, body, timestamp: isoTimestamp(entry.at) };
  // Ours again behind the provider's: whatever it names its members, none takes the place of ours.
  return { ...members, ...more, ...members };
}

/**
 * Flat, the members in the specification's order ("Payload of message.delivered"). Spec gap: the other events have the same
 * members without `delivered_at`; `operator` is null while nobody told it; `reference` is there when the sender gave one.
 */
function outboundBody(event: string, { message, entry }: StateChange, own: OwnMembers): object {
  return {
    event,
    message_id: message._id,
    to: message.to,
    status: entry.state,
    operator: message.operator ?? own.operator ?? null,
    delivered_at: own.deliveredAt,
    timestamp: isoTimestamp(entry.at),
    ...own.error,
    reference: message.reference,
    ...channelOf(message).eventMembers(message),
  };
}

function deliveredBy({ message }: StateChange): string {
  return channelOf(message).deliveredBy(message);
}
