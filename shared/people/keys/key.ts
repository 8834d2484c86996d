import type { Binary } from 'mongodb';
import type { WithActs } from '../../platform/runtime/act.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';

/** An API key as stored. The secret itself is stored nowhere, only its SHA-256. */
export interface KeyDocument extends WithActs {
  /** The public part of `hk_live_<id>_<secret>`, or `hk_test_…`. */
  readonly _id: string;
  /** What it sends is a test, and it sees tests alone (gateway/access/account.ts). */
  readonly test?: true;
  /** Absent: a key of operators, with scopes of operators alone. Nothing of an account reaches it. */
  readonly account?: AccountId;
  readonly name: string;
  readonly secretHash: Binary;
  readonly status: 'active' | 'revoked';
  /** Its place among the keys that work (platform/mongo/places.ts). A revoked key has none; one that has expired leaves it to another. */
  readonly place?: number;
  readonly scopes: readonly KeyScope[];
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  /** Its own request rate, instead of `REQUESTS_PER_MINUTE`. */
  readonly perMinute?: number;
  /**
   * The most credits that it may spend in a day and in a month (UTC). All keys of its line have the same, and what the keys that it
   * makes spend counts for it too (money/ledger/spending.ts).
   */
  readonly caps?: { readonly day?: number; readonly month?: number };
  /** The only addresses and subnets that may use it (`canonicalSubnet`). Absent: it may be used from everywhere. */
  readonly allowedIps?: readonly string[];
  /** Who made it; absent: ops. */
  readonly createdBy?: { readonly kind: 'key' | 'user'; readonly id: string; readonly name?: string };
  /** Who made it, who made that key, and so on up to the user: the ids of users, and of keys as `lineOf` tells. */
  readonly makers?: readonly string[];
  /** The first of the keys that replaced one another, when it replaces one. */
  readonly line?: string;
  /** The key that it replaces, and how long that one works at most. */
  readonly rotatedFrom?: { readonly key: string; readonly until: Date };
  /** The key that replaces it. It is set after that key is there. */
  readonly rotatedTo?: string;
}

/** "Limits": request rate per API key. */
export const REQUESTS_PER_MINUTE = 1_000;

/** The most keys of an account, or of the operators, that work at a time. */
export const LIVE_KEYS_MAX = 50;

/**
 * What keys that replaced one another are in the lineage of others: one. So a key that replaces itself each day, or two that replace
 * each other, have no more makers for it.
 */
export function lineOf({ _id, line = _id }: Pick<KeyDocument, '_id' | 'line'>): string {
  return line;
}

/** How many keys stand between a key and the user, or ops, at most. Each of them counts its requests. */
export const GENERATIONS_MAX = 10;

/**
 * The scopes of an account's keys. `otp`: may use the most urgent lane (`priority: "otp"`), in addition to `send`. `manage`: may
 * change settings of the account; it includes neither `send` nor `read`.
 */
export const ACCOUNT_KEY_SCOPES = ['send', 'read', 'otp', 'manage'] as const;

/**
 * What operators do at `/v2/admin/…`, which concerns all accounts (docs/decisions/0027). Only keys without an account have these, and
 * they have no other; only `ops operator-key create` makes them.
 */
export const OPERATOR_SCOPES = ['admin:read', 'admin:look', 'admin:support', 'admin:money', 'admin:routing'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

export type KeyScope = (typeof ACCOUNT_KEY_SCOPES)[number] | OperatorScope;

export function isOperatorScope(scope: string): scope is OperatorScope {
  return OPERATOR_SCOPES.some((one) => one === scope);
}

/** How long a key of operators works at most. Such a key always has an end, and a list of addresses. */
export const OPERATOR_KEY_DAYS_MAX = 400;
