import type { Request } from 'express';
import { type UserDocument, whereOf } from '../../shared/users/user.ts';
import { sendProblem } from '../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../http/caller-address.ts';
import type { Reply } from '../http/context.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Attempts } from './attempts.ts';
import { BUSY } from './factors.ts';
import type { Lane } from './hash-queue.ts';
import type { Passwords } from './passwords.ts';

/** Whether a signed-in user has shown the password again: the lane of further hashes. Otherwise the answer is sent. */
export type ConfirmPassword = (
  req: Request,
  res: Reply,
  user: UserDocument,
  password: string,
) => Promise<Lane | undefined>;

interface ConfirmParts {
  readonly attempts: Attempts;
  readonly passwords: Passwords;
  readonly addressOf: CallerAddress;
}

/** What a stolen session may not do needs the password again. Attempts are limited as at sign-in. */
export function createConfirmPassword(
  { log }: Pick<GatewayDeps, 'log'>,
  { attempts, passwords, addressOf }: ConfirmParts,
): ConfirmPassword {
  return async (req, res, user, password) => {
    const told = { address: addressOf(req), user_id: user._id, request_id: res.locals.requestId };
    const network = callerNetwork(told.address);
    const trier = { network, users: [user], name: user.username, where: whereOf(user), isProved: true };
    const attempt = await attempts.begin(trier);
    if (attempt.kind === 'wait') {
      log.info('sign_in_limited', { ...told, seconds: attempt.seconds });
      sendProblem(res, 'sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
      return undefined;
    }
    const right = await passwords.matching(
      attempt.lane,
      password,
      [user.password].flatMap((stored) => stored ?? []),
    );
    if (right?.size !== 0) await attempts.takeBack(attempt.taken);
    else log.info('sign_in_refused', { ...told, reason: 'password_wrong' });
    if (right !== undefined && right.size > 0) return attempt.lane;
    if (right === undefined) sendProblem(res, 'sign_in_busy', BUSY);
    else sendProblem(res, 'password_wrong');
    return undefined;
  };
}
