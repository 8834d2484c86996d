import type { Request } from 'express';
import { makeLink, removeSecondFactor, signOutEverywhere } from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { linkMembers } from './invite.ts';
import { userRecord } from './record.ts';
import { changeOf, type UsersDeps, userOf } from './users.ts';

/** What owners do for users who cannot get in. */

/** POST /v2/account/users/{user_id}/link (extension): a new link to set a password. Earlier ones no longer work. */
export function createUserLink(deps: UsersDeps): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const user = await otherOf(db, req, res);
    if (user === undefined) return;
    let token = '';
    const made = await changeOf(deps, res, { action: 'user.link', user }, async () => {
      const link = await makeLink(db, clock.now(), user);
      token = link?.token ?? '';
      return link?.user;
    });
    if (made === undefined) sendProblem(res, 'user_disabled');
    else sendJson(res, { ...userRecord(made), ...linkMembers(config, made, token) });
  };
}

/** DELETE /v2/account/users/{user_id}/second-factor (extension): for a lost app without recovery codes. All sessions end. */
export function createRemoveFactor(deps: UsersDeps): Handler {
  return async (req, res: Reply) => {
    const user = await otherOf(deps.db, req, res);
    if (user === undefined) return;
    const changed = await changeOf(deps, res, { action: 'user.remove-second-factor', user }, () =>
      removeSecondFactor(deps.db, user._id),
    );
    if (changed === undefined) sendProblem(res, 'user_not_found');
    else sendJson(res, userRecord(changed));
  };
}

/** DELETE /v2/account/users/{user_id}/sessions (extension): signs the user out everywhere. */
export function createEndSessions(deps: UsersDeps): Handler {
  return async (req, res: Reply) => {
    const user = await userOf(deps.db, req, res);
    if (user === undefined) return;
    const changed = await changeOf(deps, res, { action: 'user.end-sessions', user }, () =>
      signOutEverywhere(deps.db, user._id),
    );
    if (changed === undefined) sendProblem(res, 'user_not_found');
    else sendJson(res, userRecord(changed));
  };
}

/**
 * The user that the path names, who is not the caller: otherwise a stolen session could set a new password without the old one.
 * Undefined when the answer is sent.
 */
async function otherOf(db: UsersDeps['db'], req: Request, res: Reply): Promise<UserDocument | undefined> {
  const user = await userOf(db, req, res);
  if (user === undefined || user._id !== callerOf(res).who.id) return user;
  sendProblem(res, 'own_user');
  return undefined;
}
