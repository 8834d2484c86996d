import {
  disableUser,
  enableUser,
  makeLink,
  removeSecondFactor,
  signOutEverywhere,
} from '../../../shared/users/store.ts';
import { isOperatorRole, type UserDocument } from '../../../shared/users/user.ts';
import { ROLE_PERMISSIONS } from '../../access/roles.ts';
import { scopeMissing } from '../../access/scopes.ts';
import { askAboutKeys, keysOfTheUser, settleKeys } from '../../endpoints/keys/made-keys.ts';
import { type Deps, linkRecord } from '../../endpoints/users/users.ts';
import { choice, required } from '../../fields/field.ts';
import { readRequest, request, whole } from '../../fields/request.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import { anyUserRecord, changeUserAudited, userInPath } from './find-user.ts';

/**
 * What operators do for users who cannot sign in, or no longer should. For users who are operators themselves, new links and the
 * removal of a second factor are refused here: with these, one operator could take over another. `ops user` does it.
 */

export const USER_STATUS = request({
  status: required(choice(['active', 'disabled'], '`disabled`: cannot sign in, and all sessions end at once.')),
  keys: keysOfTheUser,
});

/** POST /v2/admin/users/{user_id}/status (extension): lets somebody in, or not any more. */
export function createUserStatus(deps: Deps): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(USER_STATUS, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const user = await userInPath(db, req);
    if (user === undefined) return sendProblem(res, 'user_not_found', NO_SUCH);
    if (refusesColleague(res, user)) return;
    const { status, keys: fate } = whole(read);
    const left = { user, keeps: status === 'active' ? ROLE_PERMISSIONS[user.role] : [], fate };
    const question = status === 'active' ? undefined : await askAboutKeys(deps, left);
    if (question !== undefined) return sendProblem(res, ...question);
    const action = status === 'active' ? 'user.enable' : 'user.disable';
    const change = () => (status === 'active' ? enableUser : disableUser)(db, user._id);
    const changed = await changeUserAudited(deps, res, { action, user }, change);
    if (changed === undefined) return sendProblem(res, 'user_not_found', NO_SUCH);
    sendJson(res, { ...anyUserRecord(changed), ...(await settleKeys(deps, requesterOf(res), left)) });
  };
}

/** Lets in or out an operator who may do more than the caller: the answer is sent then. */
function refusesColleague(res: Reply, { role }: UserDocument): boolean {
  const { who, scopes } = requesterOf(res);
  const needed = isOperatorRole(role) ? ROLE_PERMISSIONS[role] : [];
  if (needed.every((one) => scopes.includes(one))) return false;
  sendProblem(res, ...scopeMissing(who, scopes, needed));
  return true;
}

/** DELETE /v2/admin/users/{user_id}/sessions (extension): signs somebody out everywhere. */
export function createEndAnySessions(deps: Deps): Handler {
  return async (req, res: Reply) => {
    const user = await userInPath(deps.db, req);
    if (user === undefined) return sendProblem(res, 'user_not_found', NO_SUCH);
    if (refusesColleague(res, user)) return;
    const change = () => signOutEverywhere(deps.db, user._id);
    answer(res, await changeUserAudited(deps, res, { action: 'user.end-sessions', user }, change));
  };
}

/** DELETE /v2/admin/users/{user_id}/second-factor (extension): for a lost app without recovery codes. All sessions end. */
export function createRemoveAnyFactor(deps: Deps): Handler {
  return async (req, res: Reply) => {
    const user = await userInPath(deps.db, req);
    if (user === undefined) return sendProblem(res, 'user_not_found', NO_SUCH);
    if (user.account === undefined) return sendProblem(res, 'operator_by_ops');
    const change = () => removeSecondFactor(deps.db, user._id);
    answer(res, await changeUserAudited(deps, res, { action: 'user.remove-second-factor', user }, change));
  };
}

/** POST /v2/admin/users/{user_id}/link (extension): a new link to set a password. Earlier ones are void. */
export function createAnyUserLink(deps: Deps): Handler {
  const { db, clock } = deps;
  return async (req, res: Reply) => {
    const user = await userInPath(db, req);
    if (user === undefined) return sendProblem(res, 'user_not_found', NO_SUCH);
    if (user.account === undefined) return sendProblem(res, 'operator_by_ops');
    let token = '';
    const made = await changeUserAudited(deps, res, { action: 'user.link', user }, async () => {
      const link = await makeLink(db, clock.now(), user);
      token = link?.token ?? '';
      return link?.user;
    });
    if (made === undefined) sendProblem(res, 'user_disabled');
    else sendJson(res, { ...linkRecord(deps, made, token), ...anyUserRecord(made) });
  };
}

const NO_SUCH = { detail: 'Check the user_id: `GET /v2/admin/users` lists them.' };

function answer(res: Reply, changed: UserDocument | undefined): void {
  if (changed === undefined) sendProblem(res, 'user_not_found', NO_SUCH);
  else sendJson(res, anyUserRecord(changed));
}
