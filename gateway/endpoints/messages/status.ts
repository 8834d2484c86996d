import { STATES } from '../../../shared/messages/document/status.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime, isMessageId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { findMessageStatus } from './find-status.ts';
import type { MessageStatus } from './view.ts';
import { viewOf } from './views.ts';

/** GET /v2/status/{message_id}. Another account's message is answered like one that does not exist. */
export function createStatus({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const { message_id: id } = req.params;
    if (typeof id !== 'string' || !isMessageId(id)) return sendProblem(res, 'message_not_found');
    res.locals.messageId = id;
    const message = await findMessageStatus(db, callerOf(res).account._id, id);
    if (message === undefined) return sendProblem(res, 'message_not_found');
    sendJson(res, statusRecord(message));
  };
}

/** The five fields of "Delivery status record" (null while unknown), then our additions (absent while unknown). */
function statusRecord(message: MessageStatus): object {
  const view = viewOf(message);
  return {
    message_id: message._id,
    to: message.to,
    status: STATES[message.state].shown,
    delivered_at: message.deliveredAt === undefined ? null : isoTimestamp(message.deliveredAt),
    operator: view.operatorOf(message),
    reference: message.reference,
    error_code: message.errorCode,
    error_reason: message.errorReason,
    outcome: message.outcome,
    ...view.status(message),
    timeline: [
      // Messages from customers were never queued.
      ...(message.direction === 'in' ? [] : [{ status: 'queued', at: isoTimestamp(idTime(message._id)) }]),
      ...message.history.map(({ state, at }) => ({ status: state, at: isoTimestamp(at) })),
    ],
  };
}
