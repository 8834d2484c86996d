import { requireUser, requireWholeUser } from '../access/require-user.ts';
import type { Parts } from '../api/parts.ts';
import { createEndOne, createEndOthers, createOwnSessions } from '../endpoints/profile/own-sessions.ts';
import { createChangePassword } from '../endpoints/profile/password.ts';
import { createChangeProfile, createProfile } from '../endpoints/profile/profile.ts';
import { createRecoveryCodes } from '../endpoints/profile/recovery-codes.ts';
import { SecondFactor } from '../endpoints/profile/second-factor.ts';
import { Attempts } from '../endpoints/sign-in/attempts.ts';
import { createConfirmPassword, createConfirmSession, createMayTry } from '../endpoints/sign-in/confirm.ts';
import { Factors } from '../endpoints/sign-in/factors.ts';
import { HashQueue } from '../endpoints/sign-in/hash-queue.ts';
import { Links } from '../endpoints/sign-in/link.ts';
import { createOwnSession, createSignOut } from '../endpoints/sign-in/own-session.ts';
import { Passwords } from '../endpoints/sign-in/passwords.ts';
import { createSignIn } from '../endpoints/sign-in/sign-in.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { On } from './route.ts';

/** What people do with their own session and profile; keys cannot. */
export function routeSignIn(on: On, deps: GatewayDeps, parts: Parts): void {
  const { small, sessions, authenticateUser, rateLimit, addressOf } = parts;
  const attempts = new Attempts(deps.db, deps.clock, parts.counter);
  const passwords = new Passwords(new HashQueue(deps.clock));
  const factors = new Factors({ ...deps, attempts, passwords });
  const confirming = { sessions, attempts, passwords, factors, addressOf };
  const confirmPassword = createConfirmPassword(deps, confirming);
  const own = { sessions, passwords, confirmPassword, mayTry: createMayTry(deps, confirming) };
  const factor = new SecondFactor(deps, own);
  const links = new Links(deps, { ...parts, attempts, passwords });
  const incomplete = [authenticateUser, rateLimit, requireUser];
  const user = [authenticateUser, rateLimit, requireWholeUser];
  on('/v2/session', {
    post: [small, createSignIn(deps, { ...parts, attempts, passwords, factors })],
    get: [...incomplete, noQuery, createOwnSession(sessions)],
    delete: [...incomplete, noQuery, createSignOut(deps, parts)],
  });
  on('/v2/session/confirm', { post: [...incomplete, small, createConfirmSession(deps, confirming)] });
  on('/v2/session/link', { post: [small, links.look] });
  on('/v2/session/link/password', { post: [small, links.use] });
  on('/v2/profile', {
    get: [...user, noQuery, createProfile(own)],
    patch: [...user, small, createChangeProfile(deps, own)],
  });
  on('/v2/profile/password', { post: [...user, small, createChangePassword(deps, own)] });
  on('/v2/profile/second-factor', { post: [...incomplete, small, factor.begin] });
  on('/v2/profile/second-factor/confirm', { post: [...incomplete, small, factor.confirm] });
  on('/v2/profile/second-factor/remove', { post: [...user, small, factor.remove] });
  on('/v2/profile/recovery-codes', { post: [...user, small, createRecoveryCodes(deps, own)] });
  on('/v2/profile/sessions', {
    get: [...user, noQuery, createOwnSessions(deps, own)],
    delete: [...user, noQuery, createEndOthers(deps, own)],
  });
  on('/v2/profile/sessions/:session_id', { delete: [...user, noQuery, createEndOne(deps, own)] });
}
