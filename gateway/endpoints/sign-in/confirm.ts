import type { Request } from 'express';
import { confirmSession } from '../../../shared/people/users/session-store.ts';
import { type UserDocument, whereOf } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { CONFIRMED_MS, isConfirmed } from '../../access/session-limits.ts';
import type { Sessions, SignedIn } from '../../access/sessions.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../../http/caller-address.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { required } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { Attempts } from './attempts.ts';
import { BUSY, type Factors, sendRefusal } from './factors.ts';
import type { Lane } from './hash-queue.ts';
import type { Passwords } from './passwords.ts';
import { SIGN_IN } from './sign-in.ts';
import { PASSWORD_TEXT_MAX, text } from './text-field.ts';

/** Whether a signed-in user has shown the password again: the lane of further hashes. Otherwise the answer is sent. */
export type ConfirmPassword = (req: Request, res: Reply, own: SignedIn, password: string) => Promise<Lane | undefined>;

export interface ConfirmParts {
  readonly attempts: Attempts;
  readonly passwords: Passwords;
  readonly factors: Factors;
  readonly addressOf: CallerAddress;
}

/**
 * What changes how a user signs in needs the password in the same request; of whoever has an app also a code, shown within the last
 * minutes. Otherwise the password alone, which a browser fills in, would give recovery codes or another app. Attempts are limited
 * as at sign-in.
 */
export function createConfirmPassword(deps: Pick<GatewayDeps, 'log' | 'clock'>, parts: ConfirmParts): ConfirmPassword {
  return async (req, res, { user, session }, password) => {
    if (user.totp !== undefined && !isConfirmed(session, deps.clock.now())) {
      sendProblem(res, 'confirmation_required');
      return undefined;
    }
    const own = await beginOwn(deps, parts, req, res, user);
    if (own === undefined) return undefined;
    const { attempt, told } = own;
    const right = await parts.passwords.matching(
      attempt.lane,
      password,
      [user.password].flatMap((one) => one ?? []),
    );
    if (right?.size !== 0) await parts.attempts.takeBack(attempt.taken);
    else deps.log.info('sign_in_refused', { ...told, reason: 'password_wrong' });
    if (right !== undefined && right.size > 0) return attempt.lane;
    if (right === undefined) sendProblem(res, 'sign_in_busy', BUSY);
    else sendProblem(res, 'password_wrong');
    return undefined;
  };
}

export const CONFIRM_SESSION = request({
  password: required(text('The password that you sign in with.', PASSWORD_TEXT_MAX)),
  code: SIGN_IN.fields.code,
  recovery_code: SIGN_IN.fields.recovery_code,
});

/**
 * POST /v2/session/confirm (extension): who has signed in shows everything once more that signing in takes. For some minutes the
 * session may then also do what would outlive it (`requireConfirmed`).
 */
export function createConfirmSession(
  deps: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'log'>,
  { sessions, ...parts }: ConfirmParts & { readonly sessions: Sessions },
): Handler {
  const { db, clock, config, log } = deps;
  return async (req, res: Reply) => {
    const found = await sessions.find(req);
    if (typeof found === 'string') return sendProblem(res, 'session_ended');
    const read = await readRequest(CONFIRM_SESSION, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const own = await beginOwn(deps, parts, req, res, found.user);
    if (own === undefined) return;
    const { attempt, trier, told } = own;
    const proof = await parts.factors.check(trier, attempt.lane, whole(read));
    if (proof.kind === 'good' || !proof.isFailure) await parts.attempts.takeBack(attempt.taken);
    if (proof.kind === 'refused') {
      const { slug } = proof;
      log.info('sign_in_refused', { ...told, reason: slug });
      return sendRefusal(res, slug === 'sign_in_failed' ? 'password_wrong' : slug);
    }
    const now = clock.now();
    await confirmSession(db, found.session._id, now);
    log.info('session_confirmed', { ...told, session_id: found.session._id });
    sendJson(res, { status: 'success', confirmed_until: isoTimestamp(new Date(now.getTime() + CONFIRMED_MS)) });
  };
}

/** Counts what a signed-in user tries that is no guess. False when there were too many attempts, which is answered. */
export type MayTry = (req: Request, res: Reply, user: UserDocument) => Promise<boolean>;

export function createMayTry(deps: Pick<GatewayDeps, 'log'>, parts: ConfirmParts): MayTry {
  return async (req, res, user) => {
    const own = await beginOwn(deps, parts, req, res, user);
    await parts.attempts.takeBack(own?.attempt.taken ?? []);
    return own !== undefined;
  };
}

/** Counts an attempt of somebody who has signed in. Undefined when there were too many, which is answered. */
async function beginOwn(
  { log }: Pick<GatewayDeps, 'log'>,
  { attempts, addressOf }: Pick<ConfirmParts, 'attempts' | 'addressOf'>,
  req: Request,
  res: Reply,
  user: UserDocument,
) {
  const told = { address: addressOf(req), user_id: user._id, request_id: res.locals.requestId };
  const network = callerNetwork(told.address);
  const trier = { network, users: [user], name: user.username, where: whereOf(user), isProved: true };
  const attempt = await attempts.begin(trier);
  if (attempt.kind === 'go') return { attempt, trier, told };
  log.info('sign_in_limited', { ...told, seconds: attempt.seconds });
  sendProblem(res, 'sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
  return undefined;
}
