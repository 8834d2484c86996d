import { hash, randomBytes } from 'node:crypto';
import { type Config, publicUrl } from '../../platform/config/settings.ts';
import type { WithActs } from '../../platform/runtime/act.ts';
import type { AccountId, SessionId, UserId } from '../../platform/runtime/ids.ts';

/** Given by ops and owners; takes effect with the user's next request. */
export const ACCOUNT_ROLES = ['owner', 'developer', 'sender', 'viewer'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** Rights of operators over all accounts. Only ops gives them. */
export const OPERATOR_ROLES = ['operator', 'operator_support', 'operator_desk', 'operator_viewer'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export type Role = AccountRole | OperatorRole;

export function isOperatorRole(role: Role): role is OperatorRole {
  return OPERATOR_ROLES.some((one) => one === role);
}

/** Invited and disabled users of an account included; or operators. */
export const USERS_PER_ACCOUNT = 200;
/** Stands for an account where one must be named: the operators have none. */
export const OPERATORS = 'operators';

export interface UserDocument extends WithActs {
  readonly _id: UserId;
  /** The sign-in name, usually an e-mail address, in lower case. Unique in an account, and among operators. */
  readonly username: string;
  /** Absent: mails go to the sign-in name, if that is an address. */
  readonly email?: string;
  /** The notices by mail that the user chose otherwise than the role's default. */
  readonly notices?: { readonly on: readonly string[]; readonly off: readonly string[] };
  /** Fingerprints of the browsers that the user signed in with last. */
  readonly devices?: readonly string[];
  readonly name?: string;
  /** Absent: an operator, who belongs to no account. */
  readonly account?: AccountId;
  readonly role: Role;
  /** `invited`: has no password yet. `disabled`: cannot sign in, and sessions are over. */
  readonly status: 'invited' | 'active' | 'disabled';
  /** PHC string of argon2id: parameters, salt and hash. */
  readonly password?: string;
  readonly passwordAt?: Date;
  /** Absent: no second factor. */
  readonly totp?: Totp;
  /** SHA-256 of the unused recovery codes, in hexadecimal. */
  readonly recoveryCodes?: readonly string[];
  /** Sessions that began under another number are over. Raised by whatever ends all sessions. */
  readonly epoch: number;
  /** The newest one-time link. Earlier ones no longer work. */
  readonly link?: OneTimeLink;
  /** Its place among the users of the account (platform/mongo/places.ts). */
  readonly place: number;
  readonly createdAt: Date;
  readonly lastSignInAt?: Date;
  /** The networks of the last sign-ins. What happens elsewhere does not keep the user out there. */
  readonly networks?: readonly string[];
}

export interface Totp {
  /** Sealed by SecretBox. */
  readonly seed: string;
  /** The time step of the last code that was taken. Codes of it and of earlier steps are refused. */
  readonly step: number;
  readonly since: Date;
}

/** Sets a password. Whoever clears it with the same update that sets the password has used it. */
export interface OneTimeLink {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  readonly purpose: 'invitation' | 'reset';
  readonly expiresAt: Date;
}

/** An account's id, or `operators`. */
export function whereOf({ account }: Pick<UserDocument, 'account'>): string {
  return account ?? OPERATORS;
}

/** An address as HTML accepts it, with a dot in its host. */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i;
export const EMAIL_MAX = 254;

export function isEmail(text: string): boolean {
  return text.length <= EMAIL_MAX && EMAIL.test(text);
}

export function addressOf({ email, username }: Pick<UserDocument, 'email' | 'username'>): string | undefined {
  return email ?? (isEmail(username) ? username : undefined);
}

const USERNAME = /^[\p{L}\p{N}._%+@-]{3,254}$/u;

/** The stored form; undefined when it cannot be a sign-in name. Case and Unicode form make no difference. */
export function canonicalUsername(text: string): string | undefined {
  const name = text.normalize('NFKC').trim().toLowerCase();
  return USERNAME.test(name) ? name : undefined;
}

/** A signed-in browser. The cookie is `<id>.<secret>`; the secret itself is stored nowhere, only its SHA-256. */
export interface SessionDocument {
  readonly _id: SessionId;
  readonly secretHash: string;
  readonly user: UserId;
  readonly epoch: number;
  readonly factor?: 'totp' | 'recovery_code';
  /** When the user last showed password and second factor: at the beginning, or again since then. */
  readonly confirmedAt: Date;
  readonly madeAt: Date;
  /** The last request, to the minute. */
  readonly seenAt: Date;
  readonly address: string;
  readonly agent?: string;
  readonly expiresAt: Date;
}

/** As the audit shows it: of password, seed, codes and link only that they are there. */
export function auditedUser(user: UserDocument | undefined): object | undefined {
  if (user === undefined) return undefined;
  const { _id, username, name, email, notices, account, role, status, passwordAt, totp, recoveryCodes, link, epoch } =
    user;
  return {
    ...{ _id, username, name, email, notices, account, role, status },
    password_at: passwordAt,
    second_factor_since: totp?.since,
    recovery_codes: recoveryCodes?.length ?? 0,
    // Bytes are shown as a fingerprint (people/audit.ts): ten codes that replace ten others are a change too.
    recovery_code_hashes: recoveryCodes && Buffer.from(recoveryCodes.join()),
    link: link && { purpose: link.purpose, expires_at: link.expiresAt },
    // Rises when all sessions are ended.
    epoch,
  };
}

const TOKEN_BYTES = 32;
const HOUR_MS = 3_600_000;
const INVITATION_MS = 7 * 24 * HOUR_MS;
const RESET_MS = HOUR_MS;

/** With the token that only its reader gets. */
export function newLink(
  user: Pick<UserDocument, 'password'>,
  now: Date,
): { readonly token: string; readonly link: OneTimeLink } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const purpose = user.password === undefined ? 'invitation' : 'reset';
  const expiresAt = new Date(now.getTime() + (purpose === 'invitation' ? INVITATION_MS : RESET_MS));
  return { token, link: { hash: hashToken(token), purpose, expiresAt } };
}

/** No salt or stretching: 256 random bits cannot be guessed. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Browsers send nothing after `#`, so the token is in no log and no Referer, and no preview of the link spends it. */
export function linkUrl(config: Pick<Config, 'publicUrl' | 'host' | 'port'>, token: string): string {
  return `${publicUrl(config)}/dashboard/link#${token}`;
}
