import { readWholeMessage, type WholeMessage } from '../../shared/messages/read-whole.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { isMessageId } from '../../shared/runtime/ids.ts';
import type { GatewayDeps } from '../deps.ts';
import { sendJson, sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { messageRecord } from './message-record.ts';
import { partRecord } from './part-record.ts';
import { timelineOf } from './timeline.ts';

/**
 * GET /v2/messages/{id} (extension): everything that is known of one message but its text. Another account's message is as
 * unknown as one that never was.
 */
export function createMessage({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const { message_id: id } = req.params;
    if (typeof id !== 'string' || !isMessageId(id)) return sendProblem(res, 'message_not_found');
    res.locals.messageId = id;
    const whole = await readWholeMessage(db, callerOf(res).account._id, id);
    if (whole === undefined) return sendProblem(res, 'message_not_found');
    sendJson(res, 200, wholeRecord(whole));
  };
}

function wholeRecord(whole: WholeMessage): object {
  const { message, deliveries } = whole;
  return {
    ...messageRecord(message),
    encoding: message.encoding,
    valid_until: isoTimestamp(message.validUntil),
    path: message.path,
    carrier: message.claim?.carrier ?? null,
    /** Submits that a carrier refused for now. */
    tries: message.tries,
    parts: (message.parts ?? []).map(partRecord),
    webhooks: deliveries.map(({ eventId, event, endpoint, state, attempts }) => ({
      event_id: eventId,
      event,
      webhook_id: endpoint,
      state,
      attempts: attempts.length,
    })),
    timeline: timelineOf(whole),
  };
}
