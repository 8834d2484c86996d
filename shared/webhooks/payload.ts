import type { AnyMessage } from '../messages/any-message.ts';
import type { InboundMessageDocument } from '../messages/chat-message.ts';
import type { HistoryEntry } from '../messages/message.ts';
import { CHAT_OPERATOR } from '../messages/operator.ts';
import { isoTimestamp } from '../runtime/clock.ts';
import type { MessageEvent } from './endpoint.ts';

export function eventName(entry: HistoryEntry): MessageEvent {
  return `message.${entry.state}`;
}

/** The state that an event of this name tells of. */
export function stateOf(name: MessageEvent): HistoryEntry['state'] {
  return name.slice('message.'.length) as HistoryEntry['state']; // as eventName made it
}

/**
 * The exact JSON that is signed and posted for a state change: flat, members in the specification's order ("Payload of
 * message.delivered", "Payload of message.received"). Spec gap: the other events have the same shape without `delivered_at`;
 * `operator` is null while nobody told it, `error_code` and `error_reason` are there (perhaps null) in `message.failed`,
 * `message.expired` and `message.rejected`; `reference` is there when the sender gave one, `conversation_id` on the chat-app
 * channel.
 */
export function eventBody(message: AnyMessage, entry: HistoryEntry): string {
  if ('direction' in message && message.direction === 'in') return receivedBody(message, entry);
  const delivered = entry.state === 'delivered';
  const arrived = delivered || entry.state === 'read';
  const errored = entry.state === 'failed' || entry.state === 'expired' || entry.state === 'rejected';
  return JSON.stringify({
    event: eventName(entry),
    message_id: message._id,
    to: message.to,
    // The state of this change: the message may have gone further by the time that a redo announces it.
    status: entry.state,
    operator: message.operator ?? (arrived ? deliveredBy(message) : null),
    ...(delivered ? { delivered_at: isoTimestamp(message.deliveredAt ?? entry.at) } : {}),
    timestamp: isoTimestamp(entry.at),
    ...(errored ? { error_code: message.errorCode ?? null, error_reason: message.errorReason ?? null } : {}),
    ...(message.reference === undefined ? {} : { reference: message.reference }),
    ...('conversation' in message ? { conversation_id: message.conversation } : {}),
  });
}

/**
 * The specification's six fields, and no others for a text ("exactly the spec's payload", decisions.md); other types have what is
 * their own below their name, an answer to a message its `context`. The business's number is not told: an account has one.
 */
function receivedBody({ _id, from, inbound }: InboundMessageDocument, entry: HistoryEntry): string {
  const { type, body, more } = inbound;
  const fields = {
    event: eventName(entry),
    from,
    message_id: _id,
    type,
    body,
    timestamp: isoTimestamp(entry.at),
  };
  // The fields again: whatever the provider names its members, none takes the place of ours.
  return JSON.stringify({ ...fields, ...more, ...fields });
}

/** `operator` of message.delivered is never null (decisions.md, Webhooks): the carrier's short name when no better one was stored. */
function deliveredBy(message: AnyMessage): string {
  return message.channel === 'chatapp' ? CHAT_OPERATOR : (message.claim?.carrier ?? 'unknown');
}
