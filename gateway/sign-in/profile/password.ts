import { required } from '../../fields/field.ts';
import { readRequest, request, whole } from '../../fields/request.ts';
import { sendJsonText, sendProblem } from '../../http/answer.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/fields.ts';
import { replacePassword } from '../own-store.ts';
import { newPassword, refuseCommon } from '../password-rules.ts';
import { hashPassword } from '../passwords.ts';
import { sessionView } from '../session-view.ts';
import { PASSWORD_TEXT_MAX, text } from '../text-field.ts';
import { changeOwn, ownOf, type ProfileDeps, type ProfileParts } from './own.ts';

export const currentPassword = text('The password that you sign in with now.', PASSWORD_TEXT_MAX);

export const CHANGE_PASSWORD = request({ current_password: required(currentPassword), password: newPassword });

/** POST /v2/profile/password (extension): another password. All other sessions end, and this one gets another cookie. */
export function createChangePassword(deps: ProfileDeps, { sessions, confirmPassword }: ProfileParts): Handler {
  const { clock, config, db } = deps;
  return async (req, res: Reply) => {
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const read = await readRequest(CHANGE_PASSWORD, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { current_password: current, password } = whole(read);
    if (!(await confirmPassword(req, res, own.user, current))) return;
    if (await refuseCommon(res, password, [own.user.username, own.user.name])) return;
    const stored = await hashPassword(password);
    if (stored === undefined) return sendProblem(res, 'sign_in_busy', { headers: ['Retry-After', '1'] });
    const user = await changeOwn(deps, res, 'user.change-password', own.user, () =>
      replacePassword(db, own.user, stored, clock.now()),
    );
    if (user === undefined) return sendProblem(res, 'session_ended');
    const { session, cookie } = await sessions.renew(req, user, own.session.factor);
    const view = sessionView({ ...own, user, session });
    sendJsonText(res, 200, JSON.stringify(view), sessions.cookie.write(cookie));
  };
}
