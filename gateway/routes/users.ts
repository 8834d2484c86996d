import { createChangeUser, createRemoveUser } from '../account/users/change.ts';
import { createInvite } from '../account/users/invite.ts';
import { createChangeSignInRules, createSignInRules } from '../account/users/sign-in-rules.ts';
import { createEndSessions, createRemoveFactor, createUserLink } from '../account/users/support.ts';
import { createUser, createUsers } from '../account/users/users.ts';
import { noQuery } from '../http/no-query.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { requireConfirmed as confirmed } from '../sign-in/require-user.ts';
import type { Parts } from './parts.ts';
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
