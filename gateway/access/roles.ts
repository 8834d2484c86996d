import { OPERATOR_SCOPES } from '../../shared/people/keys/key.ts';
import type { Role } from '../../shared/people/users/user.ts';
import type { Permission } from '../http/context.ts';

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
export function rolesWith(needed: readonly Permission[]): readonly string[] {
  return Object.entries(ROLE_PERMISSIONS)
    .filter(([, has]) => needed.every((permission) => has.includes(permission)))
    .map(([role]) => role);
}
