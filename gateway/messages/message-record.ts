import { operatorOf } from '../../shared/messages/operator.ts';
import { STATES } from '../../shared/messages/status.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { idTime } from '../../shared/runtime/ids.ts';
import { chatFields } from './chat-fields.ts';
import type { MessageSummary } from './message-list.ts';

/** A message as lists show it: the five fields of "Delivery status record" (null where not known yet), then ours, absent ones left out. */
export function messageRecord(message: MessageSummary): object {
  return {
    message_id: message._id,
    to: message.to,
    status: STATES[message.state].shown,
    delivered_at: message.deliveredAt === undefined ? null : isoTimestamp(message.deliveredAt),
    operator: operatorOf(message),
    ...(message.channel === 'chatapp' ? { ...chatFields(message), type: typeOf(message) } : { channel: 'sms' }),
    sender: message.sender,
    route: message.route,
    segments: message.segments,
    created_at: isoTimestamp(idTime(message._id)),
    batch_id: message.batch,
    reference: message.reference,
    error_code: message.errorCode,
    error_reason: message.errorReason,
    outcome: message.outcome,
    closed_reason: message.closedReason,
  };
}

/** What it is: `template`, `text`, `image` …, `buttons`; of a customer's the provider's name of its type. */
function typeOf({ content, inbound }: MessageSummary): string | undefined {
  return inbound?.type ?? content?.type ?? content?.kind;
}
