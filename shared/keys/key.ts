import type { Binary } from 'mongodb';
import type { AccountId } from '../runtime/ids.ts';

/** An API key as stored. The secret itself is stored nowhere, only its SHA-256. */
export interface KeyDocument {
  /** The public part of `hk_live_<id>_<secret>`. */
  readonly _id: string;
  /** Absent: a key of operators, with the scope `admin` alone. Nothing of an account reaches it. */
  readonly account?: AccountId;
  readonly name: string;
  readonly secretHash: Binary;
  readonly status: 'active' | 'revoked';
  readonly scopes: readonly KeyScope[];
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  /** Its own request rate, instead of `REQUESTS_PER_MINUTE`. */
  readonly perMinute?: number;
  /** The only addresses and subnets that may use it (`canonicalSubnet`). Absent: it may be used from everywhere. */
  readonly allowedIps?: readonly string[];
  /** Who made it; absent: ops. */
  readonly createdBy?: { readonly kind: 'key' | 'user'; readonly id: string; readonly name?: string };
  /** The key that it replaces, and how long that one works at most. */
  readonly rotatedFrom?: { readonly key: string; readonly until: Date };
  /** The key that replaces it. It is set after that key is there. */
  readonly rotatedTo?: string;
}

/** "Limits": request rate per API key. */
export const REQUESTS_PER_MINUTE = 1_000;

/** The most keys that work at a time, when the account makes another one itself. */
export const LIVE_KEYS_MAX = 50;

/**
 * `otp`: may use the most urgent lane (`priority: "otp"`), in addition to `send`. `manage`: may change settings of the account;
 * it includes neither `send` nor `read`. `admin`: may use `/v2/admin/…`, which concerns all accounts. Only keys without an account
 * have it, and they have no other; only `ops key create` makes them.
 */
export const KEY_SCOPES = ['send', 'read', 'otp', 'manage', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The scopes that an account may give to a key of its own. */
export const ACCOUNT_KEY_SCOPES = ['send', 'read', 'otp', 'manage'] as const satisfies readonly KeyScope[];
