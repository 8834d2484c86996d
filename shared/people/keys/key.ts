import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Binary } from 'mongodb';
import type { WithActs } from '../../platform/runtime/act.ts';
import { type AccountId, newId } from '../../platform/runtime/ids.ts';
import { subnetIntersection } from './allowed-addresses.ts';

/** The secret itself is stored nowhere, only its SHA-256. */
export interface KeyDocument extends WithActs {
  /** The public part of `hk_live_<id>_<secret>`, or `hk_test_…`. */
  readonly _id: string;
  /** Sends tests and sees only tests (gateway/access/account.ts). */
  readonly test?: true;
  /** Absent: a key of operators, with scopes of operators only. Nothing of an account reaches it. */
  readonly account?: AccountId;
  readonly name: string;
  readonly secretHash: Binary;
  readonly status: 'active' | 'revoked';
  /** Among the working keys (platform/mongo/places.ts). Revoked: none; expired: left to another key. */
  readonly place?: number;
  readonly scopes: readonly KeyScope[];
  readonly createdAt: Date;
  readonly expiresAt?: Date;
  /** Instead of `REQUESTS_PER_MINUTE`. */
  readonly perMinute?: number;
  /** Per UTC day and month, for its line; what keys that it makes spend counts too (money/ledger/spending.ts). */
  readonly caps?: { readonly day?: number; readonly month?: number };
  /** The only addresses and subnets that may use it (`canonicalSubnet`). Absent: it may be used from everywhere. */
  readonly allowedIps?: readonly string[];
  /** Absent: ops. */
  readonly createdBy?: { readonly kind: 'key' | 'user'; readonly id: string; readonly name?: string };
  /** Who made it, who made that key, and so on up to the user: the ids of users, and of keys by `lineOf`. */
  readonly makers?: readonly string[];
  /** The first of the keys that replaced one another, when it replaces one. */
  readonly line?: string;
  /** The key that it replaces, and how long that one works at most. */
  readonly rotatedFrom?: { readonly key: string; readonly until: Date };
  /** The key that replaces it, set after that key is there. */
  readonly rotatedTo?: string;
}

/** "Limits": request rate per API key. */
export const REQUESTS_PER_MINUTE = 1_000;

/** Working keys of an account, or of the operators. */
export const LIVE_KEYS_MAX = 50;

/** Keys that replaced one another count as one in the lineage of others, so replacing a key each day adds no makers. */
export function lineOf({ _id, line = _id }: Pick<KeyDocument, '_id' | 'line'>): string {
  return line;
}

/** Most keys between a key and the user, or ops. Each of them counts the key's requests. */
export const GENERATIONS_MAX = 10;

/** `otp`: the most urgent lane, beside `send`. `manage`: settings of the account, without `send` and `read`. */
export const ACCOUNT_KEY_SCOPES = ['send', 'read', 'otp', 'manage'] as const;

/** For `/v2/admin/…` (docs/decisions/0027), in keys without an account; only `ops operator-key create` makes them. */
export const OPERATOR_SCOPES = ['admin:read', 'admin:look', 'admin:support', 'admin:money', 'admin:routing'] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

export type KeyScope = (typeof ACCOUNT_KEY_SCOPES)[number] | OperatorScope;

export function isOperatorScope(scope: string): scope is OperatorScope {
  return OPERATOR_SCOPES.some((one) => one === scope);
}

/** A key of operators always has an end, and a list of addresses. */
export const OPERATOR_KEY_DAYS_MAX = 400;

/**
 * The text of an API key: `hk_live_<id>_<secret>`, or `hk_test_…`. The id (26 characters) names the key document and is
 * no secret; the secret is 256 random bits in hexadecimal, so that a double click selects the whole key.
 */
export interface KeyText {
  readonly id: string;
  readonly secret: string;
}

const SECRET_BYTES = 32;
const KEY_FORM = /^hk_(live|test)_([0-9a-z]{26})_([0-9a-f]{64})$/;

export function newKeyText(nowMs: number): KeyText {
  return { id: newId('key', nowMs).slice('key_'.length), secret: randomBytes(SECRET_BYTES).toString('hex') };
}

export function keyPrefix(id: string, test = false): string {
  return `hk_${test ? 'test' : 'live'}_${id}`;
}

export function formatKey({ id, secret }: KeyText, test?: boolean): string {
  return `${keyPrefix(id, test)}_${secret}`;
}

export function parseKey(text: string): (KeyText & { readonly test: boolean }) | undefined {
  const [, mode, id, secret] = KEY_FORM.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret, test: mode === 'test' };
}

/** SHA-256, without salt or stretching: 256 random bits cannot be guessed, and this runs on every request. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Takes the same time for every wrong secret. */
export function secretMatches(secret: string, secretHash: Uint8Array): boolean {
  const given = hashSecret(secret);
  return given.length === secretHash.length && timingSafeEqual(given, secretHash);
}

/**
 * How far a key reaches. A key made by another reaches no farther than its maker, in each field (docs/decisions/0025).
 * Absent: no bound, but `REQUESTS_PER_MINUTE` for a key's own `perMinute`.
 */
export interface Bounds {
  readonly scopes: readonly KeyScope[];
  readonly expiresAt?: Date | undefined;
  readonly perMinute?: number | undefined;
  readonly allowedIps?: readonly string[] | undefined;
}

/** Test keys may be public, so they change nothing. They share one window (gateway/access/rate-limit.ts). */
export const TEST_KEY_BOUNDS: Bounds = { scopes: ['send', 'read', 'otp'], perMinute: 100 };

export function boundsOf({ scopes, expiresAt, perMinute, allowedIps }: KeyDocument): Bounds {
  return { scopes, expiresAt, perMinute: perMinute ?? REQUESTS_PER_MINUTE, allowedIps };
}

export type BoundField = keyof Bounds;

/** The fields in which `wanted` reaches farther than `bound`. */
export function excess(wanted: Bounds, bound: Bounds): readonly BoundField[] {
  const exceeded: Readonly<Record<BoundField, boolean>> = {
    scopes: wanted.scopes.some((scope) => !bound.scopes.includes(scope)),
    expiresAt: bound.expiresAt !== undefined && (wanted.expiresAt === undefined || wanted.expiresAt > bound.expiresAt),
    perMinute: bound.perMinute !== undefined && (wanted.perMinute ?? REQUESTS_PER_MINUTE) > bound.perMinute,
    allowedIps:
      bound.allowedIps !== undefined &&
      (wanted.allowedIps === undefined || wanted.allowedIps.some((one) => !isInside(one, bound.allowedIps ?? []))),
  };
  return BOUND_FIELDS.filter((field) => exceeded[field]);
}

export const BOUND_FIELDS = ['scopes', 'expiresAt', 'perMinute', 'allowedIps'] as const satisfies readonly BoundField[];

/** Undefined when no scope or no address is left. */
export function inside(key: Bounds, bound: Bounds): Bounds | undefined {
  const scopes = key.scopes.filter((scope) => bound.scopes.includes(scope));
  const allowedIps = commonAddresses(key.allowedIps, bound.allowedIps);
  if (scopes.length === 0 || allowedIps?.length === 0) return undefined;
  return {
    scopes,
    allowedIps,
    expiresAt: least(key.expiresAt, bound.expiresAt),
    perMinute: least(key.perMinute ?? REQUESTS_PER_MINUTE, bound.perMinute),
  };
}

function isInside(subnet: string, subnets: readonly string[]): boolean {
  return subnets.some((one) => subnetIntersection(subnet, one) === subnet);
}

function commonAddresses(
  own: readonly string[] | undefined,
  bound: readonly string[] | undefined,
): readonly string[] | undefined {
  if (own === undefined || bound === undefined) return own ?? bound;
  const common = own.flatMap((one) => bound.map((other) => subnetIntersection(one, other)));
  return [...new Set(common.filter((subnet) => subnet !== undefined))];
}

function least<T extends Date | number>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
