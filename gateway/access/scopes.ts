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

/** The 403. It names the scopes that the key lacks, or the roles that may. `sets` are alternatives. */
export function scopeMissing(
  who: Who,
  has: readonly Permission[],
  ...all: readonly ScopeSet[]
): readonly [ProblemSlug, ProblemAnswer] {
  // Where there are alternatives, accounts are told only of their own scopes and operators only of theirs.
  const own = all.filter((set) => set.some(isOperatorScope) === has.some(isOperatorScope));
  const sets = own.length > 0 ? own : all;
  if (who.kind !== 'user') {
    const ways = sets.map((set) => set.filter((scope) => !has.includes(scope)).map((scope) => `"${scope}"`));
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

export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  sender: ['read', 'send', 'otp'],
  developer: ['read', 'send', 'otp', 'manage'],
  owner: ['read', 'send', 'otp', 'manage', 'owner'],
  operator_viewer: ['admin:read'],
  operator_desk: ['admin:look'],
  operator_support: ['admin:read', 'admin:look', 'admin:support'],
  operator: OPERATOR_SCOPES,
};

/** Roles that have all these permissions, the least mighty first. */
function rolesWith(needed: readonly Permission[]): readonly string[] {
  return Object.entries(ROLE_PERMISSIONS)
    .filter(([, has]) => needed.every((permission) => has.includes(permission)))
    .map(([role]) => role);
}

/** Comes after `createAuthenticate`. Lets any user in, also one who still has to set up a second factor. */
export const requireUser: Handler = (_req, res, next) => {
  if (requesterOf(res).who.kind === 'user') next();
  else sendProblem(res, 'session_missing');
};

/** Lets in users who need not set up a second factor first. */
export const requireWholeUser: Handler = (_req, res, next) => {
  const { who } = requesterOf(res);
  if (who.kind !== 'user') sendProblem(res, 'session_missing');
  else if (who.incomplete) sendProblem(res, 'second_factor_needed');
  else next();
};

/**
 * Comes after the scopes, before changes that would outlive a stolen session: users, keys, secrets, rules of sign-in,
 * money. A user must have shown the password within the last minutes; keys cannot, and pass.
 */
export const requireConfirmed: Handler = (_req, res, next) => {
  const { who } = requesterOf(res);
  if (who.kind !== 'user' || who.confirmed) next();
  else sendProblem(res, 'confirmation_required');
};
