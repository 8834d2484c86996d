import assert from 'node:assert/strict';
import { confirmSession as confirm, findUser } from '../../../shared/people/users/store.ts';
import { auditedUser, type UserDocument, whereOf } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { CONFIRMED_MS, isConfirmed } from '../../access/sessions.ts';
import { type Call, done, endpoint, type Gateway, refused } from '../../api/endpoint.ts';
import { success, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { callerNetwork } from '../../http/caller-address.ts';
import type { SignedIn } from '../../http/context.ts';
import { required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { isRefused, type Refused } from '../../http/idempotency/action.ts';
import { proofsOf, refusalOf } from './factors.ts';
import { boundedText, CODES, PASSWORD_TEXT_MAX } from './fields.ts';
import type { Lane } from './passwords.ts';

type Asked = Pick<Call, 'req' | 'requester' | 'told'>;

/** Only for endpoints for people alone. */
export function ownOf({ requester }: Asked): SignedIn {
  assert(requester.signedIn !== undefined, 'the endpoint takes others than people');
  return requester.signedIn;
}

/** Changes the user's own document and records it in the audit. Undefined when nothing was changed. */
export function changeOwn(
  gateway: Gateway,
  { requester }: Asked,
  action: string,
  user: UserDocument,
  make: () => Promise<UserDocument | undefined>,
): Promise<UserDocument | undefined> {
  return changeAudited(gateway, requester, {
    action,
    subject: { kind: 'user', id: user.username },
    read: async () => auditedUser(await findUser(gateway.db, user._id)),
    make,
    madeOf: (made) => auditedUser(made ?? user) ?? {},
  });
}

const Confirmed = success('Confirmed', 'Until when the session may do what needs the password again.', {
  confirmed_until: text(undefined, { format: 'date-time', example: '2026-11-21T10:10:00+00:00' }),
});

/**
 * Shows again all that sign-in takes: for minutes the session may make changes that outlive it (`requireConfirmed`).
 */
export const confirmSession = endpoint({
  id: 'confirmSession',
  method: 'post',
  path: '/v2/session/confirm',
  tag: 'Sign-in',
  summary: 'Show the password again',
  description:
    'Extension. What would outlive a stolen session (users, keys, webhook secrets, rules of sign-in, credits, …) needs the password shown within the last 10 minutes, at sign-in or here; otherwise it is answered with 403 `confirmation_required`. Users who have an authenticator app also send its code, as at sign-in: 401 `second_factor_missing` asks for it. Counts as an attempt to sign in.',
  signedIn: 'incomplete',
  bodyMax: 'small',
  body: request({
    password: required(boundedText('The password that you sign in with.', PASSWORD_TEXT_MAX)),
    ...CODES,
  }),
  answer: Confirmed,
  problems: [
    'password_wrong',
    'second_factor_missing',
    'second_factor_wrong',
    'second_factor_unreadable',
    'sign_in_limited',
    'sign_in_busy',
  ],
  examples: { body: { example: { password: 'correct horse battery staple', code: '123456' } } },
  async handle(gateway, call) {
    const { db, clock, log } = gateway;
    const { attempts, factors } = proofsOf(gateway);
    const found = ownOf(call);
    const own = await beginOwn(gateway, call, found.user);
    if (isRefused(own)) return own;
    const { attempt, trier, told } = own;
    const proof = await factors.check(trier, attempt.lane, call.body);
    if (proof.kind === 'good' || !proof.isFailure) await attempts.takeBack(attempt.taken);
    if (proof.kind === 'refused') {
      const { slug } = proof;
      log.info('sign_in_refused', { ...told, reason: slug });
      return refusalOf(slug === 'sign_in_failed' ? 'password_wrong' : slug);
    }
    const now = clock.now();
    await confirm(db, found.session._id, now);
    log.info('session_confirmed', { ...told, session_id: found.session._id });
    return done({ confirmed_until: isoTimestamp(new Date(now.getTime() + CONFIRMED_MS)) });
  },
});

/**
 * Changes of how a user signs in need the password in the same request; with an app also a code, shown within the last
 * minutes: the password alone, which browsers fill in, must not give recovery codes or another app. Attempts are
 * limited as at sign-in. Resolves to the lane of further hashes.
 */
export async function confirmPassword(
  gateway: Gateway,
  call: Asked,
  { user, session }: SignedIn,
  password: string,
): Promise<Lane | Refused> {
  const { clock, log } = gateway;
  const { attempts, passwords } = proofsOf(gateway);
  if (user.totp !== undefined && !isConfirmed(session, clock.now())) return refused('confirmation_required');
  const own = await beginOwn(gateway, call, user);
  if (isRefused(own)) return own;
  const { attempt, told } = own;
  const stored = user.password === undefined ? [] : [user.password];
  const right = await passwords.matching(attempt.lane, password, stored);
  if (right?.size !== 0) await attempts.takeBack(attempt.taken);
  else log.info('sign_in_refused', { ...told, reason: 'password_wrong' });
  if (right === undefined) return refusalOf('sign_in_busy');
  return right.size > 0 ? attempt.lane : refused('password_wrong');
}

export async function countTry(gateway: Gateway, call: Asked, user: UserDocument): Promise<Refused | undefined> {
  const own = await beginOwn(gateway, call, user);
  if (isRefused(own)) return own;
  await proofsOf(gateway).attempts.takeBack(own.attempt.taken);
  return undefined;
}

async function beginOwn(gateway: Gateway, { req, told: { requestId } }: Asked, user: UserDocument) {
  const { log, addressOf } = gateway;
  const told = { address: addressOf(req), user_id: user._id, request_id: requestId };
  const network = callerNetwork(told.address);
  const trier = { network, users: [user], name: user.username, where: whereOf(user), isProved: true };
  const attempt = await proofsOf(gateway).attempts.begin(trier);
  if (attempt.kind === 'go') return { attempt, trier, told };
  log.info('sign_in_limited', { ...told, seconds: attempt.seconds });
  return refused('sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
}
