import { isAccountId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { parseQuery } from '../../http/query.ts';
import { answerUsers, parseUsersPage } from '../users/users.ts';
import { anyUserRecord } from './find-user.ts';

/** GET /v2/admin/users (extension): the users of an account; without `account_id` the operators. Newest first. */
export function createAllUsers(deps: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { account_id: account, ...paging } = parseQuery(req, ['account_id', 'limit', 'cursor'], problems);
    const page = parseUsersPage(paging, problems);
    if (account !== undefined && !isAccountId(account)) {
      problems.add('account_id', 'invalid_value', 'It must be an account id like acc_01kam….');
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const of = account !== undefined && isAccountId(account) ? account : undefined;
    await answerUsers(deps, res, of, page, anyUserRecord);
  };
}
