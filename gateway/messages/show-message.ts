import { chatMessageKey } from '../../shared/providers/message-key.ts';
import { isoTimestamp } from '../../shared/runtime/clock.ts';
import { isMessageId } from '../../shared/runtime/ids.ts';
import type { ReadingDeps } from '../access/dear-reads.ts';
import { sendProblem } from '../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { messageRecord } from './message-record.ts';
import { partRecord } from './part-record.ts';
import {
  isInbound,
  readWholeMessage,
  type UnreadInboundMessage,
  type UnreadMessage,
  type WholeMessage,
} from './read-whole.ts';
import { timelineOf } from './timeline.ts';

/**
 * GET /v2/messages/{id} (extension): everything that is known of one message but its text. Another account's message is as
 * unknown as one that never was.
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

/** Of a message of ours: where it went, and what the carrier, or the provider, said to it. */
function outboundRecord(message: Exclude<UnreadMessage, UnreadInboundMessage>): object {
  const { account, claim, tries, parts = [] } = message;
  const chat = message.channel === 'chatapp' ? message : undefined;
  return {
    encoding: message.channel === 'sms' ? message.encoding : undefined,
    valid_until: isoTimestamp(message.validUntil),
    path: message.path,
    // Messages of the chat-app channel are claimed by shares of accounts, which are nobody's business.
    carrier: chat === undefined ? (claim?.carrier ?? null) : undefined,
    template: chat?.content.name,
    language: chat?.content.language,
    /** Submits that a carrier refused for now. */
    tries,
    parts: parts.map((part, index) =>
      partRecord(part, index, chat === undefined ? undefined : chatMessageKey(account, '')),
    ),
  };
}

function wholeRecord(whole: WholeMessage): object {
  const { message, deliveries } = whole;
  return {
    ...messageRecord(message),
    ...(isInbound(message) ? {} : outboundRecord(message)),
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
