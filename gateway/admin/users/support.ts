import {
  disableUser,
  enableUser,
  makeLink,
  removeSecondFactor,
  signOutEverywhere,
} from '../../../shared/users/store.ts';
import type { UserDocument } from '../../../shared/users/user.ts';
import { linkMembers } from '../../account/users/invite.ts';
import type { UsersDeps } from '../../account/users/users.ts';
import { choice, required } from '../../fields/field.ts';
import { readRequest, request, whole } from '../../fields/request.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import { anyUserRecord, changeUserAudited, userInPath } from './find-user.ts';

/**
 * What operators do for users who cannot sign in, or no longer should. For users who are operators themselves, new links and the
 * removal of a second factor are refused here: with these, one operator could take over another. `ops user` does it.
 */

export const USER_STATUS = request({
  status: required(choice(['active', 'disabled'], '`disabled`: cannot sign in, and all sessions end at once.')),
});

/** POST /v2/admin/users/{user_id}/status (extension): lets somebody in, or not any more. */
export function createUserStatus(deps: UsersDeps): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(USER_STATUS, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const user = await userInPath(db, req);
    if (user === undefined) return sendProblem(res, 'user_not_found', NO_SUCH);
    const { status } = whole(read);
    const action = status === 'active' ? 'user.enable' : 'user.disable';
    const change = () => (status === 'active' ? enableUser : disableUser)(db, user._id);
    answer(res, await changeUserAudited(deps, res, { action, user }, change));
  };
}

/** DELETE /v2/admin/users/{user_id}/sessions (extension): signs somebody out everywhere. */
export function createEndAnySessions(deps: UsersDeps): Handler {
  return async (req, res: Reply) => {
    const user = await userInPath(deps.db, req);
    if (user === undefined) return sendProblem(res, 'user_not_found', NO_SUCH);
    const change = () => signOutEverywhere(deps.db, user._id);
    answer(res, await changeUserAudited(deps, res, { action: 'user.end-sessions', user }, change));
  };
}

/** DELETE /v2/admin/users/{user_id}/second-factor (extension): for a lost app without recovery codes. All sessions end. */
export function createRemoveAnyFactor(deps: UsersDeps): Handler {
  return async (req, res: Reply) => {
    const user = await userInPath(deps.db, req);
    if (user === undefined) return sendProblem(res, 'user_not_found', NO_SUCH);
    if (user.account === undefined) return sendProblem(res, 'operator_by_ops');
    const change = () => removeSecondFactor(deps.db, user._id);
    answer(res, await changeUserAudited(deps, res, { action: 'user.remove-second-factor', user }, change));
  };
}

/** POST /v2/admin/users/{user_id}/link (extension): a new link to set a password. Earlier ones are void. */
export function createAnyUserLink(deps: UsersDeps): Handler {
  const { db, clock, config } = deps;
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
    else sendJson(res, { ...anyUserRecord(made), ...linkMembers(config, made, token) });
  };
}

const NO_SUCH = { detail: 'Check the user_id: `GET /v2/admin/users` lists them.' };

function answer(res: Reply, changed: UserDocument | undefined): void {
  if (changed === undefined) sendProblem(res, 'user_not_found', NO_SUCH);
  else sendJson(res, anyUserRecord(changed));
}
