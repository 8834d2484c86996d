import type { Binary } from 'mongodb';
import type { AccountId } from '../runtime/ids.ts';

/** An API key as stored. The secret itself is stored nowhere, only its SHA-256. */
export interface KeyDocument {
  /** The public part of `hk_live_<id>_<secret>`. */
  readonly _id: string;
  readonly account: AccountId;
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
}

/** "Limits": request rate per API key. */
export const REQUESTS_PER_MINUTE = 1_000;

/**
 * `otp`: may use the most urgent lane (`priority: "otp"`), in addition to `send`. `manage`: may change settings of the account;
 * it includes neither `send` nor `read`.
 */
export const KEY_SCOPES = ['send', 'read', 'otp', 'manage'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
