import type { Request } from 'express';
import type { UserDocument } from '../../shared/users/user.ts';
import { sendProblem } from '../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../http/caller-address.ts';
import type { Reply } from '../http/context.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Attempts } from './attempts.ts';
import { passwordMatches } from './passwords.ts';

/** Whether a signed-in user has shown the password again. Otherwise the answer is sent. */
export type ConfirmPassword = (req: Request, res: Reply, user: UserDocument, password: string) => Promise<boolean>;

/** What a stolen session may not do needs the password again. Attempts are limited as at sign-in. */
export function createConfirmPassword(
  { log }: Pick<GatewayDeps, 'log'>,
  attempts: Attempts,
  addressOf: CallerAddress,
): ConfirmPassword {
  return async (req, res, user, password) => {
    const told = { address: addressOf(req), user_id: user._id, request_id: res.locals.requestId };
    const network = callerNetwork(told.address);
    const known = user.networks?.includes(network) ?? false;
    const attempt = await attempts.begin({ network, name: user.username, known });
    if (attempt.kind === 'wait') {
      log.info('sign_in_limited', { ...told, seconds: attempt.seconds });
      sendProblem(res, 'sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
      return false;
    }
    const matches = await passwordMatches(password, user.password);
    if (matches !== false) await attempts.takeBack(attempt.taken);
    else log.info('sign_in_refused', { ...told, reason: 'password_wrong' });
    if (matches === undefined) sendProblem(res, 'sign_in_busy', { headers: ['Retry-After', '1'] });
    else if (!matches) sendProblem(res, 'password_wrong');
    return matches === true;
  };
}
