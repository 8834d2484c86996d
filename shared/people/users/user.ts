import type { WithActs } from '../../platform/runtime/act.ts';
import type { AccountId, UserId } from '../../platform/runtime/ids.ts';

/** What a user of an account may do. Ops and owners give it; it takes effect with the user's next request. */
export const ACCOUNT_ROLES = ['owner', 'developer', 'sender', 'viewer'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** What an operator may do over all accounts. Only ops gives it. */
export const OPERATOR_ROLES = ['operator', 'operator_support', 'operator_desk', 'operator_viewer'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export type Role = AccountRole | OperatorRole;

export function isOperatorRole(role: Role): role is OperatorRole {
  return OPERATOR_ROLES.some((one) => one === role);
}

/** How many users an account may have, invited and disabled ones too; and how many operators there may be. */
export const USERS_PER_ACCOUNT = 200;
/** What stands in the place of an account where somebody must name one: the operators have none. */
export const OPERATORS = 'operators';

/** A person who signs in to the dashboard, as stored. */
export interface UserDocument extends WithActs {
  readonly _id: UserId;
  /** What the person signs in with, usually an e-mail address, in lower case. No two users of an account have the same, and no two operators. */
  readonly username: string;
  /** Where mails go. Absent: to the sign-in name, if that is an address. */
  readonly email?: string;
  /** The notices that the user wants by mail, or does not, otherwise than usual for the role. */
  readonly notices?: { readonly on: readonly string[]; readonly off: readonly string[] };
  /** Fingerprints of the browsers that the user signed in with last. */
  readonly devices?: readonly string[];
  /** How the person is called in lists and in the audit. */
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
  /** SHA-256 of the recovery codes that were not used yet, in hexadecimal. */
  readonly recoveryCodes?: readonly string[];
  /** Sessions that began under another number are over. Raised by whatever ends all sessions. */
  readonly epoch: number;
  /** The one-time link that was made last. Earlier ones no longer work. */
  readonly link?: OneTimeLink;
  /** Its number among the users of the account: an account has no more of them than places. */
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

/** A link with which a user sets a password. Whoever clears it with the same update that sets the password has used it. */
export interface OneTimeLink {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  readonly purpose: 'invitation' | 'reset';
  readonly expiresAt: Date;
}

/** Where a user signs in: an account's id, or `operators`. */
export function whereOf({ account }: Pick<UserDocument, 'account'>): string {
  return account ?? OPERATORS;
}

/** What HTML takes for an address, with a dot in its host. */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i;
export const EMAIL_MAX = 254;

export function isEmail(text: string): boolean {
  return text.length <= EMAIL_MAX && EMAIL.test(text);
}

/** Where mails to a user go, if anywhere. */
export function addressOf({ email, username }: Pick<UserDocument, 'email' | 'username'>): string | undefined {
  return email ?? (isEmail(username) ? username : undefined);
}

const USERNAME = /^[\p{L}\p{N}._%+@-]{3,254}$/u;

/** The stored form of a sign-in name; undefined when it cannot be one. Case and Unicode form make no difference. */
export function canonicalUsername(text: string): string | undefined {
  const name = text.normalize('NFKC').trim().toLowerCase();
  return USERNAME.test(name) ? name : undefined;
}
