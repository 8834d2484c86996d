import { sendJson, sendProblem } from '../../http/answer.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { required } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { putRecoveryCodes } from '../sign-in/own-store.ts';
import { newRecoveryCodes } from '../sign-in/recovery-codes.ts';
import { changeOwn, ownOf, type ProfileDeps, type ProfileParts } from './own.ts';
import { currentPassword } from './password.ts';

export const NEW_RECOVERY_CODES = request({ current_password: required(currentPassword) });

/** POST /v2/profile/recovery-codes (extension): ten new ones. Those from before no longer work. */
export function createRecoveryCodes(deps: ProfileDeps, { sessions, confirmPassword }: ProfileParts): Handler {
  return async (req, res: Reply) => {
    const own = await ownOf(req, res, sessions);
    if (own === undefined) return;
    const { clock, config, db } = deps;
    const read = await readRequest(NEW_RECOVERY_CODES, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    if (!(await confirmPassword(req, res, own, whole(read).current_password))) return;
    const { codes, hashes } = newRecoveryCodes();
    const user = await changeOwn(deps, res, 'user.renew-recovery-codes', own.user, () =>
      putRecoveryCodes(db, own.user, hashes),
    );
    if (user === undefined) sendProblem(res, 'second_factor_needed');
    else sendJson(res, { recovery_codes: codes });
  };
}
