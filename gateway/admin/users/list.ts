import { isAccountId } from '../../../shared/runtime/ids.ts';
import { listUsers } from '../../../shared/users/store.ts';
import type { UsersDeps } from '../../account/users/users.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/fields.ts';
import { pageOf } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { anyUserRecord } from './find-user.ts';

/** GET /v2/admin/users (extension): the users of an account; without `account_id` the operators. All fit on one page. */
export function createAllUsers({ db }: Pick<UsersDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { account_id: account } = parseQuery(req, ['account_id'], problems);
    if (account !== undefined && !isAccountId(account)) {
      problems.add('account_id', 'invalid_value', 'It must be an account id like acc_01kam….');
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const found = await listUsers(db, account !== undefined && isAccountId(account) ? account : undefined);
    sendJson(res, pageOf('users', found.map(anyUserRecord), undefined));
  };
}
