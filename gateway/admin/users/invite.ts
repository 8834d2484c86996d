import { findAccount } from '../../../shared/accounts/store.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { auditedUser } from '../../../shared/users/audited-user.ts';
import { inviteUser } from '../../../shared/users/store.ts';
import { type Deps, INVITE_USER, linkRecord, notInvited } from '../../endpoints/users/users.ts';
import { required } from '../../fields/field.ts';
import { readRequest, request, whole } from '../../fields/request.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import { accountId, NO_SUCH_ACCOUNT } from '../fields.ts';
import { anyUserRecord } from './find-user.ts';

export const INVITE_TO_ACCOUNT = request({ ...INVITE_USER.fields, account_id: required(accountId) });

/** POST /v2/admin/users (extension): a user of an account, usually its first owner, with the link to set a password. */
export function createInviteToAccount(deps: Deps): Handler {
  const { db, clock, config } = deps;
  return async (_req, res: Reply) => {
    const read = await readRequest(INVITE_TO_ACCOUNT, bodyOf(res), { account: {}, now: clock.now(), config });
    const { problems, given } = read;
    if (given.account_id !== undefined && (await findAccount(db, given.account_id)) === undefined) {
      problems.add('account_id', 'invalid_value', NO_SUCH_ACCOUNT);
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const { account_id: account, ...invited } = whole(read);
    const now = clock.now();
    try {
      const { user, token } = await changeAudited(deps, requesterOf(res), {
        action: 'user.invite',
        subject: { kind: 'user', id: invited.username },
        account,
        apart: `${account} ${invited.role}`,
        read: async () => undefined,
        make: () => inviteUser(db, now, { ...invited, account }, newId('usr', now.getTime())),
        madeOf: (made) => auditedUser(made.user) ?? {},
        isRefusal: (error) => notInvited(error) !== undefined,
      });
      sendJson(res, { ...linkRecord(deps, user, token), ...anyUserRecord(user) });
    } catch (error) {
      const refusal = notInvited(error);
      if (refusal === undefined) throw error;
      sendProblem(res, refusal);
    }
  };
}
