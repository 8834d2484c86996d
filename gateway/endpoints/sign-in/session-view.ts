import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { ROLE_PERMISSIONS } from '../../access/roles.ts';
import { needsSecondFactor } from '../../access/second-factor.ts';
import { CONFIRMED_MS, IDLE_MS } from '../../access/session-limits.ts';
import type { SignedIn } from '../../access/sessions.ts';

/** Who has signed in, what the user may do, and what is missing before that. */
export function sessionView({ session, user, account }: SignedIn): object {
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
    account: account === undefined ? null : { account_id: account._id, name: account.name },
    scopes: incomplete ? [] : ROLE_PERMISSIONS[user.role],
    missing: incomplete ? ['second_factor'] : [],
    idle_seconds: IDLE_MS / 1000,
    confirmed_until: isoTimestamp(new Date(session.confirmedAt.getTime() + CONFIRMED_MS)),
    expires_at: isoTimestamp(session.expiresAt),
  };
}
