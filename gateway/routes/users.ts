import { requireConfirmed as confirmed } from '../access/require-user.ts';
import type { Parts } from '../api/parts.ts';
import { createChangeUser, createRemoveUser } from '../endpoints/users/change.ts';
import { createInvite } from '../endpoints/users/invite.ts';
import { createChangeSignInRules, createSignInRules } from '../endpoints/users/sign-in-rules.ts';
import { createEndSessions, createRemoveFactor, createUserLink } from '../endpoints/users/support.ts';
import { createUser, createUsers } from '../endpoints/users/users.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import { keyHandlers, type On } from './route.ts';

/** The users of an account, by its owners. */
export function routeUsers(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, noFields } = parts;
  const owner = keyHandlers(parts)('owner');
  on('/v2/account/users', {
    get: [...owner, createUsers(parts.reading)],
    post: [...owner, confirmed, message, once(createInvite(deps))],
  });
  on('/v2/account/users/:user_id', {
    get: [...owner, noQuery, createUser(deps)],
    patch: [...owner, confirmed, message, createChangeUser(deps)],
    delete: [...owner, confirmed, createRemoveUser(deps)],
  });
  on('/v2/account/users/:user_id/link', { post: [...owner, confirmed, noFields, createUserLink(deps)] });
  on('/v2/account/users/:user_id/second-factor', { delete: [...owner, confirmed, noQuery, createRemoveFactor(deps)] });
  on('/v2/account/users/:user_id/sessions', { delete: [...owner, confirmed, noQuery, createEndSessions(deps)] });
  on('/v2/account/sign-in', {
    get: [...owner, noQuery, createSignInRules(deps)],
    patch: [...owner, confirmed, message, createChangeSignInRules(deps)],
  });
}
