import { findUsersByName } from '../../../shared/people/users/store.ts';
import { canonicalUsername, OPERATORS, type UserDocument, whereOf } from '../../../shared/people/users/user.ts';
import { isAccountId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadAccount } from '../../access/read-account.ts';
import { isSameOrigin } from '../../access/same-origin.ts';
import type { Sessions } from '../../access/sessions.ts';
import { type ProblemAnswer, sendJsonText, sendProblem } from '../../http/answer.ts';
import { type CallerAddress, callerNetwork } from '../../http/caller-address.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { Fault, optional, required, string } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { Attempts } from './attempts.ts';
import { type Factors, sendRefusal } from './factors.ts';
import { noteSignIn, putHash } from './own-store.ts';
import { isOutdated, type Passwords } from './passwords.ts';
import { sessionView } from './session-view.ts';
import { PASSWORD_TEXT_MAX, text } from './text-field.ts';

const where = string(
  {
    description:
      'Where you sign in: an account’s id, or `operators`. Needed only where your name and password are right in several accounts (`account_needed`).',
  },
  (given) =>
    given === OPERATORS || isAccountId(given)
      ? given
      : new Fault('invalid_value', 'It must be an account id like acc_01kam…, or operators.'),
);

export const SIGN_IN = request({
  username: required(text('Your sign-in name, usually an e-mail address.', 254)),
  password: required(text('Your password.', PASSWORD_TEXT_MAX)),
  account: optional(where),
  code: optional(text('The six digits that your authenticator app shows now.', 20)),
  recovery_code: optional(text('A recovery code, instead of `code`. Each works once.', 100)),
});

interface SignInParts {
  readonly sessions: Sessions;
  readonly readAccount: ReadAccount;
  readonly addressOf: CallerAddress;
  readonly attempts: Attempts;
  readonly passwords: Passwords;
  readonly factors: Factors;
}

/** POST /v2/session (extension): signs in. The session's cookie is in the answer's headers only. */
export function createSignIn(
  { db, clock, config, log }: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'log'>,
  { sessions, readAccount, addressOf, attempts, passwords, factors }: SignInParts,
): Handler {
  return async (req, res: Reply) => {
    if (!isSameOrigin(req, config.publicUrl)) return sendProblem(res, 'origin_refused');
    const read = await readRequest(SIGN_IN, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { username, account: where, ...shown } = whole(read);
    const name = canonicalUsername(username);
    const found = name === undefined ? [] : await findUsersByName(db, name, where);
    const users = (await Promise.all(found.map((user) => whoMay(user, readAccount)))).flat();
    const address = addressOf(req);
    const network = callerNetwork(address);
    const told = { address, user_id: found[0]?._id, request_id: res.locals.requestId };

    const trier = { network, users, name: name ?? username, where };
    const attempt = await attempts.begin(trier);
    if (attempt.kind === 'wait') {
      log.info('sign_in_limited', { ...told, seconds: attempt.seconds });
      return sendProblem(res, 'sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
    }
    const proof = await factors.check(trier, attempt.lane, shown);
    const taken = [...attempt.taken, ...proof.guesses];
    if (proof.kind === 'refused') {
      if (!proof.isFailure) await attempts.takeBack(taken);
      log.info('sign_in_refused', { ...told, reason: proof.slug });
      return sendRefusal(res, proof.slug, await accountsOf(proof.users ?? [], readAccount));
    }
    await attempts.forget(taken);
    const { user } = proof;
    const before = await sessions.find(req);
    if (typeof before !== 'string') await sessions.end(before.session);
    const { session, cookie } = await sessions.begin(req, user, { factor: proof.factor });
    await noteSignIn(db, user, session.madeAt, network);
    if (user.password !== undefined && isOutdated(user.password)) {
      const renewed = await passwords.hash(attempt.lane, shown.password, user.password);
      if (renewed !== undefined) await putHash(db, user, renewed);
    }
    const account = user.account && (await readAccount(user.account));
    log.info('signed_in', {
      ...{ ...told, user_id: user._id, account: user.account },
      ...{ session_id: session._id, factor: proof.factor ?? 'none' },
    });
    const view = sessionView({ session, user, account });
    sendJsonText(res, 200, JSON.stringify(view), sessions.cookie.write(cookie));
  };
}

/** The user, unless nobody may sign in as that one, whatever the password. */
async function whoMay(user: UserDocument, readAccount: ReadAccount): Promise<UserDocument[]> {
  if (user.status !== 'active') return [];
  return user.account === undefined || (await readAccount(user.account)) !== undefined ? [user] : [];
}

/** For whoever has shown the password of all these users: among which accounts one must choose. */
async function accountsOf(users: readonly UserDocument[], readAccount: ReadAccount): Promise<ProblemAnswer> {
  if (users.length === 0) return {};
  const accounts = users.map(async (user) => {
    const account = user.account && (await readAccount(user.account));
    return { account_id: whereOf(user), name: account?.name ?? 'Operators' };
  });
  return { extra: { accounts: await Promise.all(accounts) } };
}
