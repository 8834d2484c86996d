import { findAccount } from '../../../shared/accounts/store.ts';
import { ACCOUNT_KEY_SCOPES, type KeyScope, REQUESTS_PER_MINUTE } from '../../../shared/keys/key.ts';
import type { Caller } from '../../http/context.ts';
import type { FieldProblems } from '../../http/fields.ts';
import type { Problem } from '../../idempotency/action.ts';
import type { GatewayDeps } from '../../process/deps.ts';

/**
 * The caller who makes, changes or replaces a key must have every scope of it: otherwise a key with `manage` alone could make one that
 * sends and reads (docs/decisions/0060). Undefined when the caller may.
 */
export function beyondCaller(
  { scopes: own }: Pick<Caller, 'scopes'>,
  scopes: readonly KeyScope[],
): Problem | undefined {
  const lacking = ACCOUNT_KEY_SCOPES.filter((scope) => scopes.includes(scope) && !own.includes(scope));
  if (lacking.length === 0) return undefined;
  const named = lacking.map((scope) => `"${scope}"`).join(' and ');
  return [
    'scope_missing',
    { detail: `You can give a key only what you may do yourself. You lack the scope ${named}.` },
  ];
}

/** Reports a rate above what the operator allows the account. A key that already has this rate, from ops, may keep it. */
export async function checkRate(
  { db }: Pick<GatewayDeps, 'db'>,
  { account }: Caller,
  { wanted, current }: { readonly wanted: number | undefined; readonly current?: number | undefined },
  problems: FieldProblems,
): Promise<void> {
  if (wanted === undefined || wanted <= REQUESTS_PER_MINUTE || wanted === current) return;
  const most = (await findAccount(db, account._id))?.keyPerMinute ?? REQUESTS_PER_MINUTE;
  if (wanted <= most) return;
  const detail = `It may be at most ${most}. Ask your service provider if you need more.`;
  problems.add('per_minute', 'out_of_range', detail);
}
