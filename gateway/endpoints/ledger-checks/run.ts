import { setImmediate } from 'node:timers/promises';
import { listAccounts } from '../../../shared/money/accounts/store.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { BROKEN_MAX, type LedgerCheckDocument } from './ledger-check.ts';
import { noteProgress } from './store.ts';

/** How often progress is stored, at most. */
const NOTE_MS = 500;

type RunDeps = Pick<GatewayDeps, 'db' | 'clock' | 'log' | 'stopping'>;

/**
 * Walks the ledgers one after the other, in this process, and stores how far it is. The store reads a thousand entries at a time,
 * and other requests are served in between. Never rejects. A process that stops leaves the check as it is: it reads only.
 */
export async function runCheck(deps: RunDeps, check: LedgerCheckDocument): Promise<void> {
  const { db, clock, log, stopping } = deps;
  const { _id: id, account } = check;
  let { done, total, entries, broken } = check;
  const note = (state: LedgerCheckDocument['state']): Promise<void> =>
    noteProgress(db, id, { state, at: clock.now(), done, total, entries, broken });
  try {
    const ids = account === undefined ? (await listAccounts(db)).map(({ _id }) => _id) : [account];
    total = ids.length;
    let notedMs = Number.NEGATIVE_INFINITY;
    for (const one of ids) {
      if (stopping.aborted) return;
      const verdict = await verifyLedger(db, one);
      done++;
      entries += verdict.entries;
      if (verdict.problems.length > 0 && broken.length < BROKEN_MAX) broken = [...broken, verdict];
      if (clock.monotonicMs() - notedMs >= NOTE_MS) {
        notedMs = clock.monotonicMs();
        await note('running');
      }
      await setImmediate();
    }
    await note('done');
    if (broken.length > 0) log.error('ledger_broken', { accounts: broken.map(({ account: of }) => of).join(' ') });
  } catch (error) {
    log.error('ledger_check_failed', errorFields(error));
    await note('failed').catch(() => {}); // Without a store it stays as it is, and is told as interrupted.
  }
}
