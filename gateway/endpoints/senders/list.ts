import { isSenderForm } from '../../../shared/carriers/sender-form.ts';
import { listSenderPage } from '../../../shared/carriers/sender-store.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { senderRecord } from './record.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 250;

/** GET /v2/account/senders (extension): the account's senders with their states, by name. */
export function createSenders({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'senders', (text): text is string => isSenderForm(text), problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const found = await listSenderPage(db, account, after ?? '', limit + 1);
      const page = found.slice(0, limit);
      return pageOf('senders', page.map(senderRecord), found.length > limit ? page.at(-1)?.sender : undefined);
    });
  };
}
