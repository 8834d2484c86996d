import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { endSessions, findUserByLink } from '../../../shared/people/users/store.ts';
import { hashToken, type OneTimeLink, type UserDocument } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isSameOrigin } from '../../access/sessions.ts';
import { done, endpoint, type Gateway, invalid, refused } from '../../api/endpoint.ts';
import { named, success, text } from '../../api/shapes.ts';
import { callerNetwork } from '../../http/caller-address.ts';
import { Fault, required, string } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { isRefused, type Refused } from '../../http/idempotency/action.ts';
import { proofsOf, refusalOf } from './factors.ts';
import { noteNetwork, passwordLike, spendLink } from './own-store.ts';
import { type Lane, newPassword, refuseCommon } from './passwords.ts';
import { accountRecord, Role, SessionAccount } from './session.ts';

/** One-time links with which users set a password. Only the POST that sets it spends a link: previews do not. */

const TOKEN = /^[\w-]{43}$/;
const token = required(
  string({ description: 'What stands behind `#` in the link.', pattern: TOKEN.source }, (text) =>
    TOKEN.test(text) ? text : new Fault('invalid_value', 'It must be the 43 characters behind `#` in the link.'),
  ),
);
const TOKEN_EXAMPLE = 'q1Zb0nQ5s6mJ8y3xw2f9dK4tR7uVcAeLpXhGiNoTzBY';

const LinkLook = named('LinkLook', {
  username: text(undefined, { example: 'ravi@example.com' }),
  name: text(undefined, { example: 'Ravi' }).nullable(),
  role: Role.meta({ example: 'developer' }),
  purpose: z.enum(['invitation', 'reset']),
  account: SessionAccount,
  expires_at: text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' }),
});

export const lookAtLink = endpoint({
  id: 'lookAtLink',
  method: 'post',
  path: '/v2/session/link',
  tag: 'Sign-in',
  summary: 'Whose one-time link it is',
  description:
    'Extension. Changes nothing, so that the page of the link can greet the user before a password is chosen.',
  needs: 'the link',
  bodyMax: 'small',
  body: request({ token }),
  ownProblems: true,
  answer: LinkLook,
  problems: ['link_invalid', 'origin_refused', 'sign_in_limited'],
  examples: { body: { example: { token: TOKEN_EXAMPLE } } },
  async handle(gateway, { req, read, body }) {
    if (!isSameOrigin(req, gateway.config.publicUrl)) return refused('origin_refused');
    if (read.problems.count > 0) return invalid(read.problems);
    const found = await findLimited(gateway, req, hashToken(body.token));
    if (isRefused(found)) return found;
    const { user, link } = found;
    return {
      ...{ username: user.username, name: user.name ?? null, role: user.role, purpose: link.purpose },
      account: accountRecord(user.account && (await gateway.readAccount(user.account))),
      expires_at: isoTimestamp(link.expiresAt),
    };
  },
});

export const useLink = endpoint({
  id: 'useLink',
  method: 'post',
  path: '/v2/session/link/password',
  tag: 'Sign-in',
  summary: 'Set a password with a one-time link',
  description:
    'Extension. Spends the link. All sessions of the user end, and the user signs in with the new password, and the second factor if one is set up.',
  needs: 'the link',
  bodyMax: 'small',
  body: request({ token, password: newPassword }),
  ownProblems: true,
  answer: success('PasswordSet', {
    username: text(undefined, { example: 'ravi@example.com' }),
    message: text(undefined, { example: 'The password is set. Sign in with it.' }),
  }),
  problems: ['link_invalid', 'origin_refused', 'sign_in_limited', 'sign_in_busy'],
  examples: { body: { example: { token: TOKEN_EXAMPLE, password: 'correct horse battery staple' } } },
  async handle(gateway, { req, read, body: { token, password }, told }) {
    const { db, clock, config, log } = gateway;
    const { passwords, attempts } = proofsOf(gateway);
    if (!isSameOrigin(req, config.publicUrl)) return refused('origin_refused');
    if (read.problems.count > 0) return invalid(read.problems);
    const hashed = hashToken(token);
    const found = await findLimited(gateway, req, hashed);
    if (isRefused(found)) return found;
    const common = await refuseCommon(password, [found.user.username, found.user.name]);
    if (common !== undefined) return common;
    const stored = await passwords.hash(found.lane, password, await passwordLike(db, found.user.username));
    if (stored === undefined) return refusalOf('sign_in_busy');
    const user = await spendLink(db, hashed, stored, clock.now());
    if (user === undefined) return refused('link_invalid');
    await endSessions(db, user._id);
    await attempts.forgetUser(user);
    const address = gateway.addressOf(req);
    await noteNetwork(db, user._id, callerNetwork(address));
    log.info('password_set', { user_id: user._id, address, request_id: told.requestId });
    return done({ username: user.username, message: 'The password is set. Sign in with it.' });
  },
});

/** Counts attempts as at sign-in, and invalid links like wrong passwords. */
async function findLimited(
  gateway: Gateway,
  req: IncomingMessage,
  hashed: string,
): Promise<{ readonly user: UserDocument; readonly link: OneTimeLink; readonly lane: Lane } | Refused> {
  const { db, clock, addressOf } = gateway;
  const user = await findUserByLink(db, hashed, clock.now());
  const users = user === undefined ? [] : [user];
  const network = callerNetwork(addressOf(req));
  const attempt = await proofsOf(gateway).attempts.begin({ network, users, isProved: user !== undefined });
  if (attempt.kind === 'wait') {
    return refused('sign_in_limited', { headers: ['Retry-After', String(attempt.seconds)] });
  }
  return user?.link === undefined ? refused('link_invalid') : { user, link: user.link, lane: attempt.lane };
}
