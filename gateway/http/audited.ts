import { isDeepStrictEqual } from 'node:util';
import { QuotaReached } from '../../shared/money/accounts/quotas.ts';
import {
  type Actor,
  auditView,
  beginEntry,
  completeEntry,
  type Subject,
  withdrawEntry,
} from '../../shared/people/audit.ts';
import { isOperatorScope } from '../../shared/people/keys/key.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { type AccountId, liveAccountOf, minuteAuditId } from '../../shared/platform/runtime/ids.ts';
import type { Requester } from './context.ts';
import type { GatewayDeps } from './deps.ts';

interface SettingChange<T> {
  readonly action: string;
  readonly subject: Required<Subject>;
  /** The account that it belongs to, if not the caller's own. */
  readonly account?: AccountId;
  /**
   * Changes within a minute that differ in this get separate entries, for example the requested rights: rights that
   * were given and taken back at once then stay in the audit.
   */
  readonly apart?: string;
  /** The state before the change; undefined or left out if there is none yet. */
  read?(): Promise<object | undefined>;
  make(): Promise<T>;
  /** The state after the change; undefined if nothing was changed. */
  madeOf(result: T): object | undefined;
  /** Whether an error of `make` means that nothing was changed. `QuotaReached` always does. */
  isRefusal?(error: unknown): boolean;
}

/**
 * Makes a change and records it in the audit: begun before the change, completed after it. Changes of the same thing by
 * the same key or user within a minute share an entry, from the state before the first to the state after the last, so
 * that nobody can fill the audit. A change without effect leaves no entry. Rejects as `make` does, and when the store
 * cannot write the entry; in that case nothing was changed.
 */
export async function changeAudited<T>(
  { db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>,
  requester: Requester,
  { action, subject, apart = '', read, make, madeOf, isRefusal, ...change }: SettingChange<T>,
): Promise<T> {
  const { who, account } = requester;
  const now = clock.now();
  const id = minuteAuditId(`${who.id} ${action} ${subject.kind}:${subject.id}${apart}`, now);
  const found = await read?.();
  const before = found && auditView(found);
  const actor = actorOf(requester);
  const of = change.account ?? (account && liveAccountOf(account._id));
  const intended = { actor, action, subject, ...(of && { account: of }), ...(before && { before }) };
  await beginEntry(db, id, intended, { now, keptDays: config.auditDays });
  /** If the store fails now, the entry stays `begun`, because the change may have been made. */
  const ended = (done: Promise<void>): Promise<void> => done.catch(() => {});
  crashPoint('audit:begun');
  let result: T;
  try {
    result = await make();
  } catch (error) {
    if (error instanceof QuotaReached || isRefusal?.(error)) await ended(withdrawEntry(db, id));
    throw error;
  }
  crashPoint('audit:changed');
  const made = madeOf(result);
  const done = made && ({ outcome: 'done', after: auditView(made) } as const);
  const changed = done !== undefined && !isDeepStrictEqual(before, done.after);
  await ended(changed ? completeEntry(db, id, done) : withdrawEntry(db, id, done));
  return result;
}

export function actorOf({ who, address, scopes }: Requester): Actor {
  const { kind, id } = who;
  if (kind === 'ops') return { kind, id, ...(address !== '' && { address }) };
  const operator = scopes.some(isOperatorScope) ? ({ operator: true } as const) : {};
  return { kind, id, ...operator, ...(who.kind === 'user' && { name: who.name }), address };
}
