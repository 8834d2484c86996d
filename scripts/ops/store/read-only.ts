import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Actor } from '../../../shared/audit/entry.ts';
import { beginEntry, completeEntry } from '../../../shared/audit/store.ts';
import type { Config } from '../../../shared/config/settings.ts';
import { writingProcesses } from '../../../shared/processes/report.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { type AuditId, newId } from '../../../shared/runtime/ids.ts';
import { StartError } from '../../../shared/runtime/lifecycle.ts';
import {
  type AccessDocument,
  closeAccess,
  closedProcesses,
  readAccess,
} from '../../../shared/store-access/access-store.ts';
import { startRefusal } from '../../../shared/store-access/refusal.ts';

export interface Operating {
  readonly db: Db;
  readonly clock: Clock;
  readonly config: Pick<Config, 'auditDays'>;
  /** Whom the audit names. */
  readonly actor: Actor;
}

/** Longer than a process needs to end its last write, and longer than a dead one counts as writing (shared/processes/report.ts). */
const CLOSED_WITHIN_MS = 100_000;
const LOOK_MS = 200;
/** How long an operator's command may go on writing before it looks again whether the store was closed (scripts/ops/context.ts). */
export const OPS_LOOK_MS = 1_000;
/**
 * How long whoever closes the store waits for operators' commands, which report nowhere: `OPS_LOOK_MS` until they look, and the
 * rest for their last write. A command whose write takes longer says so itself.
 */
export const OPS_CLOSED_MS = 3_000;

/**
 * Makes the store read-only, if it is not yet, and waits until no process writes any more. Throws a `StartError` that names the
 * processes that still do; the store stays read-only then.
 */
export async function makeReadOnly(operating: Operating): Promise<AccessDocument> {
  const { db, clock } = operating;
  let access = await readAccess(db);
  const refusal = access && startRefusal(access);
  if (refusal !== undefined) throw new StartError(refusal);
  if (access === undefined) {
    await enterInAudit(operating, 'store.read-only', { state: 'on' });
    access = { _id: 'access', mode: 'read_only', period: randomUUID(), since: clock.now() };
    await closeAccess(db, access);
  }
  await untilClosed(operating, access.period);
  return access;
}

/**
 * Resolves when all processes that may write have said that they write nothing more, and operators' commands have had the time to
 * see that the store is closed.
 */
export async function untilClosed({ db, clock }: Operating, period: string): Promise<void> {
  const deadline = clock.monotonicMs() + CLOSED_WITHIN_MS;
  await wait(OPS_CLOSED_MS);
  for (;;) {
    const closed = await closedProcesses(db, period);
    const writing = (await writingProcesses(db)).filter(({ _id }) => !closed.has(_id));
    if (writing.length === 0) return;
    if (clock.monotonicMs() >= deadline) {
      const names = writing.map(({ app, _id }) => `${app} (${_id})`).join(', ');
      throw new StartError(
        `These processes may still write: ${names}. Stop them, then run the command again. The store stays read-only.`,
      );
    }
    await wait(LOOK_MS);
  }
}

/**
 * Writes an entry into the audit about a change of the store's own state. Call it before or after the change, when `db` takes
 * writes. With an `id` it may be called again for the same change.
 */
export async function enterInAudit(
  { db, clock, config, actor }: Operating,
  action: string,
  after: object,
  id?: AuditId,
): Promise<void> {
  const now = clock.now();
  const entry = id ?? newId('aud', now.getTime());
  const intended = { actor, action, subject: { kind: 'store' } } as const;
  await beginEntry(db, entry, intended, { now, keptDays: config.auditDays });
  await completeEntry(db, entry, { outcome: 'done', after: { ...after } });
}
