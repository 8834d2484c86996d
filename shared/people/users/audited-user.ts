import type { UserDocument } from './user.ts';

/** A user as the audit shows it: nothing of the password, the seed, the codes and the link but that they are there. */
export function auditedUser(user: UserDocument | undefined): object | undefined {
  if (user === undefined) return undefined;
  const { _id, username, name, email, notices, account, role, status, passwordAt, totp, recoveryCodes, link, epoch } =
    user;
  return {
    ...{ _id, username, name, email, notices, account, role, status },
    password_at: passwordAt,
    second_factor_since: totp?.since,
    recovery_codes: recoveryCodes?.length ?? 0,
    // Bytes are shown as a fingerprint (people/audit/view.ts): ten codes that replace ten others are a change too.
    recovery_code_hashes: recoveryCodes && Buffer.from(recoveryCodes.join()),
    link: link && { purpose: link.purpose, expires_at: link.expiresAt },
    // Rises when all sessions are ended.
    epoch,
  };
}
