import { isDeepStrictEqual } from 'node:util';
import type { Subject } from '../../shared/audit/entry.ts';
import { beginEntry, completeEntry, withdrawEntry } from '../../shared/audit/store.ts';
import { auditView } from '../../shared/audit/view.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { minuteAuditId } from '../../shared/runtime/ids.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Caller } from './context.ts';

/** A change of a setting by somebody with a key. */
interface KeyChange<T> {
  readonly action: string;
  readonly subject: Required<Subject>;
  /** Reads the state before the change. Undefined if there is none yet. */
  read(): Promise<object | undefined>;
  make(): Promise<T>;
  /** The state after the change. */
  madeOf(result: T): object;
  /** Whether an error of `make` means that nothing was changed. */
  isRefusal(error: unknown): boolean;
}

/**
 * Makes a change and records it in the audit: begun before the change, completed after it. Changes of the same thing
 * by the same key within a minute share an entry, from the state before the first to the state after the last, so
 * that no key can fill the audit. A change without effect leaves no entry. Rejects as `make` does. Also rejects when
 * the store cannot write the entry; then nothing was changed.
 */
export async function changeAudited<T>(
  { db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>,
  { keyId, address, account }: Caller,
  { action, subject, read, make, madeOf, isRefusal }: KeyChange<T>,
): Promise<T> {
  const now = clock.now();
  const id = minuteAuditId(`${keyId} ${action} ${subject.kind}:${subject.id}`, now);
  const found = await read();
  const before = found && auditView(found);
  const actor = { kind: 'key', id: keyId, address } as const;
  const intended = { actor, action, subject, account: account._id, ...(before && { before }) };
  await beginEntry(db, id, intended, { now, keptDays: config.auditDays });
  /** If the store fails now, the entry stays `begun`: the change may have been made. */
  const ended = (done: Promise<void>): Promise<void> => done.catch(() => {});
  crashPoint('audit:begun');
  let result: T;
  try {
    result = await make();
  } catch (error) {
    if (isRefusal(error)) await ended(withdrawEntry(db, id));
    throw error;
  }
  crashPoint('audit:changed');
  const after = auditView(madeOf(result));
  const same = isDeepStrictEqual(before, after);
  const done = { outcome: 'done', after } as const;
  await ended(same ? withdrawEntry(db, id, done) : completeEntry(db, id, done));
  return result;
}
