import type { Db } from 'mongodb';
import { Lease } from '../../shared/leases/lease.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { oldestOwed, redoIntents } from '../../shared/settlement/redo-intents.ts';
import { Settler } from '../../shared/settlement/settle.ts';
import type { Announcer } from '../../shared/webhooks/announce.ts';
import { finishPending } from './finish-pending.ts';
import { type PruneDeps, pruneConversations, pruneOld, type Retention } from './prune.ts';
import { pruneUnpaid } from './pruning/unpaid-batches.ts';
import { sweepDue } from './sweep-due.ts';

const LEASE = 'maintenance';

export interface DutiesDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly announcer: Announcer;
  readonly retention: Retention;
}

/** What the holder of the maintenance lease does, each duty when its turn comes (main.ts has the times). */
export interface Duties {
  /** Takes or renews the lease; a new holder first does again what the one before left half done. */
  keepLease(): Promise<void>;
  /** Retries that waited, validity that passed, `sent` that nobody confirmed. */
  sweepDue(): Promise<void>;
  /** What dead gateways left pending in accounts. */
  finishPending(): Promise<void>;
  /** Batches that were stored and never paid. */
  pruneBatches(): Promise<void>;
  /** What ended long ago. It may take hours, and ends early when the lease goes. */
  pruneOld(): Promise<void>;
  /** Customers of the chat-app channel with whom nothing was exchanged for long. */
  pruneConversations(): Promise<void>;
  release(): Promise<void>;
}

export function createDuties({ db, clock, log, metrics, announcer, retention }: DutiesDeps): Duties {
  const lease = new Lease({ name: LEASE, db, clock });
  const swept = metrics.counter('maintenance_due_total', 'Messages whose due time came');
  const finished = metrics.counter(
    'maintenance_pending_total',
    'Accounts whose pending changes were finished by the sweep',
  );
  const pruned = metrics.counter('maintenance_pruned_total', 'Old documents that were removed', ['what']);
  const pruning: PruneDeps = {
    db,
    clock,
    log,
    retention,
    held: () => lease.held,
    onRemoved: (what, count) => pruned.inc({ what }, count),
  };
  let settler: Settler | undefined;
  let epoch = 0;

  /** One duty's failure is logged and tried again at its next turn. */
  const guarded = async (duty: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn('duty_failed', { duty, ...errorFields(error) });
    }
  };

  return {
    keepLease: () =>
      guarded('lease', async () => {
        const held = await lease.keep();
        if (held && epoch === lease.epoch) return;
        settler = undefined;
        epoch = 0;
        if (!held) return;
        await redoIntents(db, announcer, LEASE, lease.epoch, oldestOwed(clock.now()));
        epoch = lease.epoch;
        settler = new Settler({ db, announcer, lease: LEASE, epoch, stream: 'due' });
        log.info('lease_taken', { lease: LEASE, epoch });
      }),
    sweepDue: () =>
      guarded('due', async () => {
        // Until nothing is due: a backlog does not wait for the next turn.
        while (settler !== undefined && lease.held) {
          const count = await sweepDue(db, settler, clock);
          swept.inc(count);
          if (count === 0) return;
        }
      }),
    finishPending: () =>
      guarded('pending', async () => {
        if (!lease.held) return;
        const count = await finishPending(db, clock);
        finished.inc(count);
        if (count > 0) log.info('pending_finished', { accounts: count });
      }),
    pruneBatches: () =>
      guarded('batches', async () => {
        if (!lease.held) return;
        const count = await pruneUnpaid(db, clock);
        if (count > 0) log.info('unpaid_batches_pruned', { batches: count });
      }),
    pruneOld: () => guarded('prune', () => pruneOld(pruning)),
    pruneConversations: () => guarded('prune_conversations', () => pruneConversations(pruning)),
    release: () => lease.release(),
  };
}
