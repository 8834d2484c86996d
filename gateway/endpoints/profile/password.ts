import { sendJsonText, sendProblem } from '../../http/answer.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { required } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { BUSY } from '../sign-in/factors.ts';
import { passwordLike, replacePassword } from '../sign-in/own-store.ts';
import { newPassword, refuseCommon } from '../sign-in/password-rules.ts';
import { sessionView } from '../sign-in/session-view.ts';
import { PASSWORD_TEXT_MAX, text } from '../sign-in/text-field.ts';
import { changeOwn, ownOf, type ProfileDeps, type ProfileParts } from './own.ts';

export const currentPassword = text('The password that you sign in with now.', PASSWORD_TEXT_MAX);

export const CHANGE_PASSWORD = request({ current_password: required(currentPassword), password: newPassword });

/** POST /v2/profile/password (extension): another password. All other sessions end, and this one gets another cookie. */
export function createChangePassword(
  deps: ProfileDeps,
  { sessions, confirmPassword, passwords }: ProfileParts,
): Handler {
  const { clock, config, db } = deps;
  return async (req, res: Reply) => {
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const read = await readRequest(CHANGE_PASSWORD, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { current_password: current, password } = whole(read);
    const lane = await confirmPassword(req, res, own, current);
    if (lane === undefined) return;
    if (await refuseCommon(res, password, [own.user.username, own.user.name])) return;
    const like = await passwordLike(db, own.user.username);
    const stored = await passwords.hash(lane, password, like);
    if (stored === undefined) return sendProblem(res, 'sign_in_busy', BUSY);
    const user = await changeOwn(deps, res, 'user.change-password', own.user, () =>
      replacePassword(db, own.user, stored, clock.now()),
    );
    if (user === undefined) return sendProblem(res, 'session_ended');
    const { session, cookie } = await sessions.renew(req, user, {
      factor: own.session.factor,
      confirmedAt: own.session.confirmedAt,
    });
    const view = sessionView({ ...own, user, session });
    sendJsonText(res, 200, JSON.stringify(view), sessions.cookie.write(cookie));
  };
}
