import type { Binary } from 'mongodb';
import type { AccountId } from '../runtime/ids.ts';

/** An API key as stored: the secret itself is nowhere, only its SHA-256. */
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
}

/** "Limits": request rate per API key. */
export const REQUESTS_PER_MINUTE = 1_000;

/** `otp`: may use the most urgent lane (`priority: "otp"`), beside `send`. */
export type KeyScope = 'send' | 'read' | 'otp';
