import { isAccountId, isUserId } from '../../../shared/runtime/ids.ts';
import { listUsers } from '../../../shared/users/store.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/fields.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { anyUserRecord } from './find-user.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;

/** GET /v2/admin/users (extension): the users of an account; without `account_id` the operators. Newest first. */
export function createAllUsers({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { account_id: account, ...paging } = parseQuery(req, ['account_id', 'limit', 'cursor'], problems);
    const limit = parseLimit(paging.limit, problems);
    const after = parseCursor(paging.cursor, 'users', isUserId, problems);
    if (account !== undefined && !isAccountId(account)) {
      problems.add('account_id', 'invalid_value', 'It must be an account id like acc_01kam….');
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const of = account !== undefined && isAccountId(account) ? account : undefined;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const found = await listUsers(db, of, { after, limit: limit + 1 });
      const shown = found.slice(0, limit);
      return pageOf('users', shown.map(anyUserRecord), found.length > limit ? shown.at(-1)?._id : undefined);
    });
  };
}
