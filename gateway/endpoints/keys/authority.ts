import { findAccount } from '../../../shared/money/accounts/store.ts';
import {
  ACCOUNT_KEY_SCOPES,
  BOUND_FIELDS,
  type BoundField,
  type Bounds,
  boundsOf,
  excess,
  GENERATIONS_MAX,
  type KeyDocument,
  type KeyScope,
  lineOf,
  REQUESTS_PER_MINUTE,
} from '../../../shared/people/keys/key.ts';
import { isExpired } from '../../../shared/people/keys/key-use.ts';
import { findKey, type Maker } from '../../../shared/people/keys/store.ts';
import { findUser } from '../../../shared/people/users/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isUserId } from '../../../shared/platform/runtime/ids.ts';
import { CHALLENGE } from '../../access/rate-limit.ts';
import { ROLE_PERMISSIONS } from '../../access/scopes.ts';
import type { Caller, Permission } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import type { Problem } from '../../http/idempotency/action.ts';

type Deps = Pick<GatewayDeps, 'db' | 'clock'>;

/** What a caller may grant to keys, and what its keys store about their maker. */
export interface Reach {
  readonly bounds: Bounds;
  /** Undefined: an operator on this machine, who may grant anything. */
  readonly maker?: Maker;
}

/**
 * What the caller may grant: a key as much as itself, a user as the role allows. Read anew, because authentication may
 * be 4 s behind. A problem when the caller may no longer manage keys.
 */
export async function reachOf(deps: Deps, caller: Caller): Promise<Reach | Problem> {
  const { who } = caller;
  if (who.kind === 'ops') return { bounds: { scopes: ACCOUNT_KEY_SCOPES } };
  const found = await boundsNow(deps, caller);
  if ('problem' in found) return found.problem;
  return {
    bounds: found.bounds,
    maker: {
      by: { kind: who.kind, id: who.id, ...(who.kind === 'user' ? { name: who.name } : {}) },
      makers: found.makers,
      async mayStill(made) {
        const now = await boundsNow(deps, caller);
        return 'bounds' in now && excess(boundsOf(made), now.bounds).length === 0;
      },
    },
  };
}

export function isProblem(reach: Reach | Problem): reach is Problem {
  return Array.isArray(reach);
}

type Now = { readonly bounds: Bounds; readonly makers: readonly string[] } | { readonly problem: Problem };

async function boundsNow({ db, clock }: Deps, { who }: Caller): Promise<Now> {
  if (who.kind === 'key') {
    const key = await findKey(db, who.id);
    if (key === undefined || key.status === 'revoked') return { problem: ['key_revoked', CHALLENGE] };
    if (isExpired(key, clock.now())) return { problem: ['key_expired', CHALLENGE] };
    return managing(key.scopes) ?? { bounds: boundsOf(key), makers: unique([lineOf(key), ...(key.makers ?? [])]) };
  }
  const user = isUserId(who.id) ? await findUser(db, who.id) : undefined;
  if (user?.status !== 'active') return { problem: ['session_ended', CHALLENGE] };
  const has = ROLE_PERMISSIONS[user.role];
  const scopes = ACCOUNT_KEY_SCOPES.filter((scope) => has.includes(scope));
  return managing(has) ?? { bounds: { scopes }, makers: [user._id] };
}

function unique(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)];
}

function managing(has: readonly Permission[]): { readonly problem: Problem } | undefined {
  if (has.includes('manage')) return undefined;
  return { problem: ['scope_missing', { detail: 'Keys are made and changed by who has the scope "manage".' }] };
}

/**
 * Whoever makes, changes, replaces or revokes a key must have all that it has; otherwise a key with only `manage` could
 * make one that sends and reads (docs/decisions/0025). Undefined: the caller has it all.
 */
export function beyondCaller(key: Bounds, own: Bounds): Problem | undefined {
  const exceeded = excess(key, own);
  if (exceeded.length === 0) return undefined;
  const lacking = key.scopes.filter((scope) => !own.scopes.includes(scope));
  if (lacking.length > 0) return lackingScopes(lacking);
  const why = exceeded.map((field) => limitOf(field, own)).join('; ');
  return ['key_beyond_caller', { detail: `The key reaches farther than yours. Of yours: ${why}.` }];
}

/** Refuses a key too many generations from the user behind it. `line`: of the key that it replaces. */
export function tooFarDown({ maker }: Reach, line?: string): Problem | undefined {
  const between = (maker?.makers ?? []).filter((id) => id !== line && !isUserId(id));
  if (between.length <= GENERATIONS_MAX) return undefined;
  const detail = `The key that asks was made by a key that a key made, and so on, ${GENERATIONS_MAX} times. Make it with one of the first, or on the dashboard.`;
  return ['too_many_keys', { detail }];
}

export function lackingScopes(scopes: readonly KeyScope[]): Problem {
  const named = scopes.map((scope) => `"${scope}"`).join(' and ');
  return [
    'scope_missing',
    { detail: `You can give a key only what you may do yourself. You lack the scope ${named}.` },
  ];
}

const FIELD_NAMES: Readonly<Record<BoundField, string>> = {
  scopes: 'scopes',
  expiresAt: 'expires_at',
  perMinute: 'per_minute',
  allowedIps: 'allowed_ips',
};

/** A problem for each of `fields` beyond `bound`. `whose`: the key of the bound, as in "the key that asks". */
export function checkBounds(
  wanted: Bounds,
  bound: Bounds,
  whose: string,
  problems: FieldProblems,
  fields: readonly BoundField[] = BOUND_FIELDS,
): void {
  for (const field of excess(wanted, bound).filter((one) => fields.includes(one))) {
    const code = field === 'scopes' || field === 'allowedIps' ? 'invalid_value' : 'out_of_range';
    problems.add(FIELD_NAMES[field], code, `It reaches farther than ${whose}: ${limitOf(field, bound)}.`);
  }
}

function limitOf(field: BoundField, { scopes, expiresAt, perMinute, allowedIps }: Bounds): string {
  const limits: Readonly<Record<BoundField, string>> = {
    scopes: `the scopes are ${scopes.join(', ')}`,
    expiresAt: `it ends at ${expiresAt === undefined ? 'no time' : isoTimestamp(expiresAt)}`,
    perMinute: `${perMinute ?? REQUESTS_PER_MINUTE} requests a minute`,
    allowedIps: `the addresses are ${allowedIps?.join(', ') ?? 'all'}`,
  };
  return limits[field];
}

/** Reports a rate above the account's maximum. A key that ops gave such a rate may keep it. */
export async function checkRate(
  { db }: Pick<GatewayDeps, 'db'>,
  { who, account }: Caller,
  { wanted, current }: { readonly wanted: number | undefined; readonly current?: KeyDocument['perMinute'] },
  problems: FieldProblems,
): Promise<void> {
  if (wanted === undefined || wanted <= REQUESTS_PER_MINUTE || wanted === current || who.kind === 'ops') return;
  const most = (await findAccount(db, account._id))?.keyPerMinute ?? REQUESTS_PER_MINUTE;
  if (wanted <= most) return;
  const detail = `It may be at most ${most}. Ask your service provider if you need more.`;
  problems.add('per_minute', 'out_of_range', detail);
}
