import { isMessageId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { listMessages } from '../messages/message-list.ts';
import { messageRecord } from '../messages/message-record.ts';
import { readSaid } from './texts.ts';

const MESSAGES_PER_REQUEST = 100;

/** GET /v2/account/received-sms (extension): what was written to the account's numbers, newest first; or to one of them. */
export function createReceivedSms({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['number', 'limit', 'cursor'], problems);
    const { number } = query;
    if (number !== undefined && !/^\d{3,15}$/.test(number)) {
      problems.add('number', 'invalid_phone', 'It must be a number of the account, 3 to 15 digits.');
    }
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'received-sms', isMessageId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / MESSAGES_PER_REQUEST), async () => {
      const filter = { channel: 'sms', direction: 'in', to: number } as const;
      const { messages, next } = await listMessages(db, account, filter, after, limit);
      const ids = messages.map(({ _id }) => _id);
      const said = await readSaid(db, account, ids);
      const data = messages.map((message) => ({ ...messageRecord(message), ...said.get(message._id) }));
      return pageOf('received-sms', data, next);
    });
  };
}
