import { findUserByName } from '../../shared/users/store.ts';
import { canonicalUsername, type UserDocument } from '../../shared/users/user.ts';
import type { ReadAccount } from '../access/read-account.ts';
import { optional, required } from '../fields/field.ts';
import { readRequest, request, whole } from '../fields/request.ts';
import { sendJsonText, sendProblem } from '../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../http/caller-address.ts';
import { bodyOf, type CallerAccount, type Handler, type Reply } from '../http/context.ts';
import { invalidRequest } from '../http/fields.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Attempts } from './attempts.ts';
import { type Factors, sendRefusal } from './factors.ts';
import { noteSignIn } from './own-store.ts';
import { renewHash } from './passwords.ts';
import { isSameOrigin } from './same-origin.ts';
import { sessionView } from './session-view.ts';
import type { Sessions } from './sessions.ts';
import { PASSWORD_TEXT_MAX, text } from './text-field.ts';

export const SIGN_IN = request({
  username: required(text('Your sign-in name, usually an e-mail address.', 254)),
  password: required(text('Your password.', PASSWORD_TEXT_MAX)),
  code: optional(text('The six digits that your authenticator app shows now.', 20)),
  recovery_code: optional(text('A recovery code, instead of `code`. Each works once.', 100)),
});

interface SignInParts {
  readonly sessions: Sessions;
  readonly readAccount: ReadAccount;
  readonly addressOf: CallerAddress;
  readonly attempts: Attempts;
  readonly factors: Factors;
}

/** POST /v2/session (extension): signs in. The session's cookie is in the answer's headers only. */
export function createSignIn(
  { db, clock, config, log }: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'log'>,
  { sessions, readAccount, addressOf, attempts, factors }: SignInParts,
): Handler {
  return async (req, res: Reply) => {
    if (!isSameOrigin(req, config.publicUrl)) return sendProblem(res, 'origin_refused');
    const read = await readRequest(SIGN_IN, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { username, ...shown } = whole(read);
    const name = canonicalUsername(username);
    const found = name === undefined ? undefined : await findUserByName(db, name);
    const user = await whoMay(found, readAccount);
    const address = addressOf(req);
    const network = callerNetwork(address);
    const told = { address, user_id: found?._id, request_id: res.locals.requestId };

    const known = found?.networks?.includes(network) ?? false;
    const attempt = await attempts.begin({ network, name: name ?? username, known });
    if (attempt.kind === 'wait') {
      log.info('sign_in_limited', { ...told, seconds: attempt.seconds });
      return sendProblem(res, 'sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
    }
    const proof = await factors.check(user?.user, shown);
    if (proof.kind === 'refused') {
      if (!proof.isFailure) await attempts.takeBack(attempt.taken);
      log.info('sign_in_refused', { ...told, reason: proof.slug });
      return sendRefusal(res, proof.slug);
    }
    await attempts.forget(attempt.taken);
    const { account } = user ?? {};
    const before = await sessions.find(req);
    if (typeof before !== 'string') await sessions.end(before.session);
    const { session, cookie } = await sessions.begin(req, proof.user, proof.factor);
    await noteSignIn(db, proof.user._id, session.madeAt, network);
    await renewHash(db, proof.user, shown.password);
    log.info('signed_in', { ...told, account: account?._id, session_id: session._id, factor: proof.factor ?? 'none' });
    const view = sessionView({ session, user: proof.user, account });
    sendJsonText(res, 200, JSON.stringify(view), sessions.cookie.write(cookie));
  };
}

/** Undefined when nobody may sign in as that user, whatever the password. */
async function whoMay(
  user: UserDocument | undefined,
  readAccount: ReadAccount,
): Promise<{ readonly user: UserDocument; readonly account: CallerAccount | undefined } | undefined> {
  if (user?.status !== 'active') return undefined;
  if (user.account === undefined) return { user, account: undefined };
  const account = await readAccount(user.account);
  return account && { user, account };
}
