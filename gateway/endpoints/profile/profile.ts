import { changeUser } from '../../../shared/people/users/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { needsSecondFactor } from '../../access/second-factor.ts';
import type { SignedIn } from '../../access/sessions.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { required } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { personName } from '../sign-in/person-name.ts';
import { changeOwn, ownOf, type ProfileDeps, type ProfileParts } from './own.ts';

export const CHANGE_PROFILE = request({ name: required(personName) });

/** GET /v2/profile (extension): the user who has signed in. */
export function createProfile({ sessions }: ProfileParts): Handler {
  return async (req, res: Reply) => {
    const own = await ownOf(req, res, sessions);
    if (own !== undefined) sendJson(res, profileView(own));
  };
}

/** PATCH /v2/profile (extension): the name. Role and sign-in name are changed by owners and operators. */
export function createChangeProfile(deps: ProfileDeps, { sessions }: ProfileParts): Handler {
  return async (req, res: Reply) => {
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const read = await readRequest(CHANGE_PROFILE, bodyOf(res), {
      account: {},
      now: deps.clock.now(),
      config: deps.config,
    });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { name } = whole(read);
    const user = await changeOwn(deps, res, 'user.rename', own.user, () =>
      changeUser(deps.db, { _id: own.user._id }, { $set: { name } }),
    );
    if (user === undefined) sendProblem(res, 'session_ended');
    else sendJson(res, profileView({ ...own, user }));
  };
}

function profileView({ user, account }: SignedIn): object {
  const { totp, passwordAt, lastSignInAt } = user;
  return {
    user_id: user._id,
    username: user.username,
    name: user.name ?? null,
    role: user.role,
    account: account === undefined ? null : { account_id: account._id, name: account.name },
    second_factor: totp === undefined ? null : { since: isoTimestamp(totp.since) },
    second_factor_required: needsSecondFactor(user, account),
    recovery_codes_left: user.recoveryCodes?.length ?? 0,
    password_changed_at: passwordAt === undefined ? null : isoTimestamp(passwordAt),
    last_sign_in_at: lastSignInAt === undefined ? null : isoTimestamp(lastSignInAt),
    created_at: isoTimestamp(user.createdAt),
  };
}
