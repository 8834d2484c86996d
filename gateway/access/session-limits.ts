import { isOperatorRole, type SessionDocument, type UserDocument } from '../../shared/people/users/user.ts';

/** A session ends after this time without a request of its user. */
export const IDLE_MS = 30 * 60_000;
/** A session ends this long after it began, in spite of requests. */
const ABSOLUTE_MS = 12 * 3_600_000;
const OPERATOR_ABSOLUTE_MS = 4 * 3_600_000;

/** For this long after the password was shown, a session may also do what would outlive it. */
export const CONFIRMED_MS = 10 * 60_000;

export function isConfirmed({ confirmedAt }: SessionDocument, now: Date): boolean {
  return now.getTime() < confirmedAt.getTime() + CONFIRMED_MS;
}

export function absoluteMs({ role }: Pick<UserDocument, 'role'>): number {
  return isOperatorRole(role) ? OPERATOR_ABSOLUTE_MS : ABSOLUTE_MS;
}

/**
 * Whether a session is over for this user: by its limits, because the user was disabled, or because something ended all sessions.
 * A role that was changed counts at once.
 */
export function isOver(session: SessionDocument, user: UserDocument, now: Date): boolean {
  const ends = Math.min(session.expiresAt.getTime(), session.madeAt.getTime() + absoluteMs(user));
  return (
    user.status !== 'active' ||
    session.epoch !== user.epoch ||
    now.getTime() >= ends ||
    now.getTime() >= session.seenAt.getTime() + IDLE_MS
  );
}
