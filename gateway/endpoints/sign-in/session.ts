import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { homeOf } from '../../../shared/money/accounts/number-check.ts';
import { OPERATOR_SCOPES } from '../../../shared/people/keys/key.ts';
import { findUsersByName } from '../../../shared/people/users/store.ts';
import {
  ACCOUNT_ROLES,
  canonicalUsername,
  OPERATOR_ROLES,
  OPERATORS,
  type UserDocument,
  whereOf,
} from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isAccountId, type UserId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadAccount } from '../../access/account.ts';
import { ROLE_PERMISSIONS } from '../../access/scopes.ts';
import { CONFIRMED_MS, cookieOf, IDLE_MS, isSameOrigin, needsSecondFactor } from '../../access/sessions.ts';
import { done, endpoint, invalid, refused, type Shown, WithHeaders } from '../../api/endpoint.ts';
import { flag, named, success, text, whole } from '../../api/shapes.ts';
import type { ProblemAnswer } from '../../http/answer.ts';
import { callerNetwork } from '../../http/caller-address.ts';
import type { CallerAccount, SignedIn } from '../../http/context.ts';
import { Fault, optional, required, string } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { ownOf } from './confirm.ts';
import { proofsOf, refusalOf } from './factors.ts';
import { boundedText, CODES, PASSWORD_TEXT_MAX } from './fields.ts';
import { noteSignIn } from './own-store.ts';

/** Signing in and out. The session's cookie is only in headers of answers. */

export const Role = z.enum([...ACCOUNT_ROLES, ...OPERATOR_ROLES]);

const SessionUser = named('SessionUser', 'The user who is signed in.', {
  user_id: text(undefined, { example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' }),
  username: text('What the user signs in with.', { example: 'asha@example.com' }),
  name: text(undefined, { example: 'Asha' }).nullable(),
  role: Role.describe(
    'viewer: `read`. sender: `read`, `send`, `otp`. developer: these and `manage`. owner: these, and the users and settings of the account. operator: `admin:read`, `admin:look`, `admin:support`, `admin:money`, `admin:routing`, for all accounts, without an account of its own. operator_support: the first three. operator_desk: `admin:look`. operator_viewer: `admin:read`.',
  ),
  second_factor: flag('Whether an authenticator app is set up.', true),
});

export const SessionAccount = z
  .strictObject({
    account_id: text(undefined, { example: 'acc_01m7znjn7hdb5pft3awkb6pgvz' }),
    name: text(undefined, { example: 'Shop' }),
    country: text('Where its numbers without a country code are from.', { example: 'IN' }).nullable(),
  })
  .nullable()
  .meta({ id: 'SessionAccount', description: 'Null for operators.' });

export const Session = named('Session', 'Who has signed in, and what the session may do.', {
  session_id: text('Its id in lists. It is not the secret in the cookie.', {
    example: 'ses_01m7znjn7hdb5pft3awkb6pgvz',
  }),
  user: SessionUser,
  account: SessionAccount,
  scopes: z.array(z.enum(['read', 'send', 'otp', 'manage', 'owner', ...OPERATOR_SCOPES])).meta({
    description: 'What the role may do; nothing while something is missing.',
    example: ['read', 'send', 'otp', 'manage', 'owner'],
  }),
  missing: z.array(z.enum(['second_factor'])).meta({ description: 'What the user must set up before anything else.' }),
  idle_seconds: whole('The session ends after this time without a request.', { example: 1800 }),
  confirmed_until: text(
    'Until then the session may do what needs the password shown within 10 minutes (`x-confirmed`). `POST /v2/session/confirm` moves it on.',
    { format: 'date-time', example: '2026-11-21T10:10:00+00:00' },
  ),
  expires_at: text('It ends then at the latest.', { format: 'date-time', example: '2026-11-22T22:00:00+00:00' }),
});

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

export const signIn = endpoint({
  id: 'signIn',
  method: 'post',
  path: '/v2/session',
  tag: 'Sign-in',
  summary: 'Sign in',
  description:
    "Extension. Users who have an authenticator app are asked for its code: 401 `second_factor_missing` says that name and password are right. Several accounts may have a user of the same name: `account` says which one is meant, and is needed only where the password is the same too. The answer sets the session's cookie; it is new with every sign-in, and an earlier session of the browser ends; of a user's sessions the newest 20 stay. Five wrong tries are free, then each pause is twice as long, up to 15 minutes; a network (an IPv4 address, an IPv6 /64) has 20 in 15 minutes, and 60 attempts a minute, good ones too. From networks where the user has signed in before, only the user's own attempts count: 60 a minute.",
  needs: 'name and password',
  bodyMax: 'small',
  body: request({
    username: required(boundedText('Your sign-in name, usually an e-mail address.', 254)),
    password: required(boundedText('Your password.', PASSWORD_TEXT_MAX)),
    account: optional(where),
    ...CODES,
  }),
  ownProblems: true,
  answer: Session,
  problems: [
    'account_needed',
    'sign_in_failed',
    'second_factor_missing',
    'second_factor_wrong',
    'origin_refused',
    'sign_in_limited',
    'second_factor_unreadable',
    'sign_in_busy',
  ],
  examples: {
    body: {
      example: { username: 'asha@example.com', password: 'correct horse battery staple', code: '123456' },
    },
  },
  async handle(gateway, { req, read, body, told: { requestId } }) {
    const { db, config, log, sessions, readAccount } = gateway;
    const { attempts, factors } = proofsOf(gateway);
    if (!isSameOrigin(req, config.publicUrl)) return refused('origin_refused');
    if (read.problems.count > 0) return invalid(read.problems);
    const { username, account: where, ...shown } = body;
    const name = canonicalUsername(username);
    const found = name === undefined ? [] : await findUsersByName(db, name, where);
    const users = (await Promise.all(found.map((user) => whoMay(user, readAccount)))).flat();
    const address = gateway.addressOf(req);
    const network = callerNetwork(address);
    const told = { address, user_id: found[0]?._id, request_id: requestId };

    const trier = { network, users, name: name ?? username, where };
    const attempt = await attempts.begin(trier);
    if (attempt.kind === 'wait') {
      log.info('sign_in_limited', { ...told, seconds: attempt.seconds });
      return refused('sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
    }
    const proof = await factors.check(trier, attempt.lane, shown);
    const taken = [...attempt.taken, ...proof.guesses];
    if (proof.kind === 'refused') {
      if (!proof.isFailure) await attempts.takeBack(taken);
      log.info('sign_in_refused', { ...told, reason: proof.slug });
      return refusalOf(proof.slug, await accountsOf(proof.users ?? [], readAccount));
    }
    await attempts.forget(taken);
    const { user } = proof;
    const before = await sessions.find(req);
    if (typeof before !== 'string') await sessions.end(before.session);
    const { session, cookie } = await sessions.begin(req, user, { factor: proof.factor });
    const device = deviceOf(req, config.publicUrl, user._id);
    await noteSignIn(db, user, session, network, device.fingerprint);
    const account = user.account && (await readAccount(user.account));
    log.info('signed_in', {
      ...{ ...told, user_id: user._id, account: user.account },
      ...{ session_id: session._id, factor: proof.factor ?? 'none' },
    });
    const headers = [...sessions.cookie.write(cookie), ...device.headers];
    return new WithHeaders(sessionRecord({ session, user, account }), headers);
  },
});

/** Empty when nobody may sign in as this user, whatever the password. */
async function whoMay(user: UserDocument, readAccount: ReadAccount): Promise<UserDocument[]> {
  if (user.status !== 'active') return [];
  return user.account === undefined || (await readAccount(user.account)) !== undefined ? [user] : [];
}

/** For a password that fits all these users: the accounts to choose from. */
async function accountsOf(users: readonly UserDocument[], readAccount: ReadAccount): Promise<ProblemAnswer> {
  if (users.length === 0) return {};
  const accounts = users.map(async (user) => {
    const account = user.account && (await readAccount(user.account));
    return { account_id: whereOf(user), name: account?.name ?? 'Operators' };
  });
  return { extra: { accounts: await Promise.all(accounts) } };
}

export const ownSession = endpoint({
  id: 'ownSession',
  method: 'get',
  path: '/v2/session',
  tag: 'Sign-in',
  summary: 'Who is signed in',
  description: 'Extension. Answers also while a second factor is missing.',
  signedIn: 'incomplete',
  answer: Session,
  async handle(_gateway, call) {
    const own = ownOf(call);
    return sessionRecord(own);
  },
});

/** Also makes the browser forget the pages that "Back" could show. */
export const signOut = endpoint({
  id: 'signOut',
  method: 'delete',
  path: '/v2/session',
  tag: 'Sign-in',
  summary: 'Sign out',
  description: 'Extension. The session ends on all gateways at once, and so do its live streams.',
  signedIn: 'incomplete',
  answer: success('SignedOut', { message: text(undefined, { example: 'You are signed out.' }) }),
  async handle({ sessions, log, addressOf }, { req }) {
    const found = await sessions.find(req);
    if (typeof found !== 'string') {
      await sessions.end(found.session);
      const { session, user } = found;
      log.info('signed_out', { user_id: user._id, session_id: session._id, address: addressOf(req) });
    }
    // "cookies" would sign out of every other product under the same registered domain.
    const headers = [...sessions.cookie.erase(), 'Clear-Site-Data', '"cache"'];
    return new WithHeaders(done({ message: 'You are signed out.' }), headers);
  },
});

export function sessionRecord({ session, user, account }: SignedIn): Shown<typeof Session> {
  const incomplete = session.factor === undefined && needsSecondFactor(user, account);
  return {
    session_id: session._id,
    user: {
      user_id: user._id,
      username: user.username,
      name: user.name ?? null,
      role: user.role,
      second_factor: user.totp !== undefined,
    },
    account: accountRecord(account),
    scopes: incomplete ? [] : ROLE_PERMISSIONS[user.role],
    missing: incomplete ? ['second_factor'] : [],
    idle_seconds: IDLE_MS / 1000,
    confirmed_until: isoTimestamp(new Date(session.confirmedAt.getTime() + CONFIRMED_MS)),
    expires_at: isoTimestamp(session.expiresAt),
  };
}

export function accountRecord(account: CallerAccount | undefined): Shown<typeof SessionAccount> {
  return account === undefined
    ? null
    : { account_id: account._id, name: account.name, country: homeOf(account) ?? null };
}

interface Device {
  /** Of this browser for this user. Users who share a browser get different ones, so the store does not reveal that. */
  readonly fingerprint: string;
  readonly headers: readonly string[];
}

const NUMBER = /^[\w-]{22}$/;
const NUMBER_BYTES = 16;
/** As long as browsers keep a cookie (RFC 6265bis §5.5). */
const MAX_AGE_S = 400 * 86_400;

/**
 * Identifies the browser by a random cookie, sent only below /v2/session. Networks and browser names change by
 * themselves, and a thief may share them (docs/decisions/0045).
 */
function deviceOf(req: IncomingMessage, publicUrl: string, user: UserId): Device {
  const secure = publicUrl.startsWith('https:');
  const name = secure ? '__Secure-harkara-device' : 'harkara-device';
  const known = cookieOf(req, name);
  const number = known !== undefined && NUMBER.test(known) ? known : randomBytes(NUMBER_BYTES).toString('base64url');
  const attributes = `Path=/v2/session; HttpOnly; SameSite=Lax; Max-Age=${MAX_AGE_S}${secure ? '; Secure' : ''}`;
  return {
    fingerprint: hash('sha256', `${user} ${number}`, 'hex'),
    headers: ['Set-Cookie', `${name}=${number}; ${attributes}`],
  };
}
