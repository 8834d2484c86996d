import { subnetIntersection } from './allowed-addresses.ts';
import { type KeyDocument, type KeyScope, REQUESTS_PER_MINUTE } from './key.ts';

/**
 * How far a key reaches. A key that another one makes reaches no farther than its maker, in each of the four (docs/decisions/0025).
 * What is absent has no bound, but `perMinute` of a key that has none of its own is `REQUESTS_PER_MINUTE`.
 */
export interface Bounds {
  readonly scopes: readonly KeyScope[];
  readonly expiresAt?: Date | undefined;
  readonly perMinute?: number | undefined;
  readonly allowedIps?: readonly string[] | undefined;
}

/**
 * How far a test key reaches at most. It may stand in programs that many see, so it changes nothing. All test keys of an account share
 * one window of the rate (gateway/access/rate-limit.ts).
 */
export const TEST_KEY_BOUNDS: Bounds = { scopes: ['send', 'read', 'otp'], perMinute: 100 };

/** A key's own bounds. */
export function boundsOf({ scopes, expiresAt, perMinute, allowedIps }: KeyDocument): Bounds {
  return { scopes, expiresAt, perMinute: perMinute ?? REQUESTS_PER_MINUTE, allowedIps };
}

export type BoundField = keyof Bounds;

/** In what `wanted` reaches farther than `bound`. */
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

/** What of `key` is inside `bound`. Undefined when nothing is: no scope, or no address. */
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
