import type { UserDocument } from '../../../shared/people/users/user.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';

/** A user as owners see one. */
export function userRecord(user: UserDocument): object {
  const { link, lastSignInAt } = user;
  return {
    user_id: user._id,
    username: user.username,
    name: user.name ?? null,
    role: user.role,
    status: user.status,
    second_factor: user.totp !== undefined,
    last_sign_in_at: lastSignInAt === undefined ? null : isoTimestamp(lastSignInAt),
    link_expires_at: link === undefined ? null : isoTimestamp(link.expiresAt),
    created_at: isoTimestamp(user.createdAt),
  };
}
