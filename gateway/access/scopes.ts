import { isOperatorScope, OPERATOR_SCOPES } from '../../shared/people/keys/key.ts';
import type { Role } from '../../shared/people/users/user.ts';
import { type ProblemAnswer, sendProblem } from '../http/answer.ts';
import { type Handler, type Permission, type Reply, requesterOf, type Who } from '../http/context.ts';
import type { ProblemSlug } from '../http/problem.ts';

export type ScopeSet = readonly Permission[];

/** Comes after `createAuthenticate`. The requester must have all scopes of at least one set. */
export function requireScope(...sets: readonly ScopeSet[]): Handler {
  return (_req, res: Reply, next) => {
    const { who, scopes } = requesterOf(res);
    if (sets.some((set) => set.every((scope) => scopes.includes(scope)))) next();
    else sendProblem(res, ...scopeMissing(who, scopes, ...sets));
  };
}

/** The 403. It names the scopes that would have to be added to the key, or the roles that may. `sets` are alternatives. */
export function scopeMissing(
  who: Who,
  has: readonly Permission[],
  ...all: readonly ScopeSet[]
): readonly [ProblemSlug, ProblemAnswer] {
  // An account is not told what operators would need, where there is another way, nor they what an account would.
  const own = all.filter((set) => set.some(isOperatorScope) === has.some(isOperatorScope));
  const sets = own.length > 0 ? own : all;
  if (who.kind !== 'user') {
    const ways = sets.map((set) => set.filter((scope) => !has.includes(scope)).map((scope) => `"${scope}"`));
    // No key may have the permission of owners.
    if (sets.every((set) => set.includes('owner'))) {
      return ['scope_missing', { detail: 'No key may do that. Sign in to the dashboard as an owner.' }];
    }
    const lacks = ways.map((way) => way.join(' and ')).join(', or ');
    return ['scope_missing', { detail: `This key may not do that: it lacks the scope ${lacks}.` }];
  }
  if (who.incomplete) return ['second_factor_needed', {}];
  const roles = [...new Set(sets.flatMap(rolesWith))].join(', ').replace(/, (?=[^,]*$)/, ' or ');
  return ['scope_missing', { detail: `Your role is ${who.role}. That takes the role ${roles}.` }];
}

/** What users may do: the scopes that a key would need for it. */
export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  sender: ['read', 'send', 'otp'],
  developer: ['read', 'send', 'otp', 'manage'],
  owner: ['read', 'send', 'otp', 'manage', 'owner'],
  operator_viewer: ['admin:read'],
  // The support desk: finds messages and looks at accounts, and nothing else.
  operator_desk: ['admin:look'],
  operator_support: ['admin:read', 'admin:look', 'admin:support'],
  operator: OPERATOR_SCOPES,
};

/** The roles that may do something for which these permissions are needed together; the least mighty first. */
function rolesWith(needed: readonly Permission[]): readonly string[] {
  return Object.entries(ROLE_PERMISSIONS)
    .filter(([, has]) => needed.every((permission) => has.includes(permission)))
    .map(([role]) => role);
}

/** Comes after `createAuthenticate`. Lets users in, also those who have no second factor yet. */
export const requireUser: Handler = (_req, res, next) => {
  if (requesterOf(res).who.kind === 'user') next();
  else sendProblem(res, 'session_missing');
};

/** Lets users in who have all that they need. */
export const requireWholeUser: Handler = (_req, res, next) => {
  const { who } = requesterOf(res);
  if (who.kind !== 'user') sendProblem(res, 'session_missing');
  else if (who.incomplete) sendProblem(res, 'second_factor_needed');
  else next();
};

/**
 * Comes after the scopes, of what would outlive a stolen session: users, keys, secrets, rules of sign-in, money. A user must have
 * shown the password within the last minutes. Keys cannot, and are not asked.
 */
export const requireConfirmed: Handler = (_req, res, next) => {
  const { who } = requesterOf(res);
  if (who.kind !== 'user' || who.confirmed) next();
  else sendProblem(res, 'confirmation_required');
};
