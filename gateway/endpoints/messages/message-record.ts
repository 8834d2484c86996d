import { STATES } from '../../../shared/messages/document/status.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime } from '../../../shared/platform/runtime/ids.ts';
import type { MessageSummary } from './view.ts';
import { viewOf } from './views.ts';

/**
 * A message as lists show it: the five fields of "Delivery status record" (null while unknown), then our additions
 * (absent while unknown).
 */
export function messageRecord(message: MessageSummary): object {
  const view = viewOf(message);
  return {
    message_id: message._id,
    to: message.to,
    status: STATES[message.state].shown,
    delivered_at: message.deliveredAt === undefined ? null : isoTimestamp(message.deliveredAt),
    operator: view.operatorOf(message),
    ...view.summary(message),
    created_at: isoTimestamp(idTime(message._id)),
    batch_id: message.batch,
    reference: message.reference,
    error_code: message.errorCode,
    error_reason: message.errorReason,
    outcome: message.outcome,
    closed_reason: message.closedReason,
  };
}
