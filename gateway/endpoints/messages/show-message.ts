import { isMessageId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { explain } from './explain/explain.ts';
import { messageRecord } from './message-record.ts';
import { readWholeMessage, type WholeMessage } from './read-whole.ts';
import { timelineOf } from './timeline.ts';
import { viewOf } from './views.ts';

/**
 * GET /v2/messages/{id} (extension): everything that is known about one message, except its text. Another account's
 * message is answered like one that does not exist.
 */
export function createMessage({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const { message_id: id } = req.params;
    if (typeof id !== 'string' || !isMessageId(id)) return sendProblem(res, 'message_not_found');
    res.locals.messageId = id;
    const account = callerOf(res).account._id;
    const read = async (): Promise<object | undefined> => {
      const whole = await readWholeMessage(db, account, id);
      return whole === undefined ? undefined : wholeRecord(whole);
    };
    await answerRead(res, 1, read, 'message_not_found');
  };
}

function wholeRecord(whole: WholeMessage): object {
  const { message, deliveries } = whole;
  return {
    ...messageRecord(message),
    explanation: explain(message),
    ...viewOf(message).whole(message),
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
