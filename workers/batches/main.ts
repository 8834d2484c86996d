import { LEASE_TTL_MS, Lease } from '../../shared/leases/lease.ts';
import { countProcesses } from '../../shared/processes/report.ts';
import { runApp } from '../../shared/processes/run-app.ts';
import { createAnnouncer } from '../../shared/webhooks/announce.ts';
import { BatchWorker } from './worker.ts';

const APP = 'batches';
/** Shares of the batches. Changed only while no batches worker runs. */
const SHARES = 4;

runApp(APP, async ({ db, listen, clock, log, metrics, life }) => {
  const worker = new BatchWorker({
    db,
    clock,
    log,
    metrics,
    announcer: createAnnouncer({ db, clock }),
    leases: Array.from({ length: SHARES }, (_, n) => new Lease({ name: `batches:${n}`, db, clock })),
    leaseRoundMs: LEASE_TTL_MS / 3,
    listen,
    countWorkers: () => countProcesses(APP, db, clock),
  });
  await worker.start();
  life.onStop('worker', () => worker.stop());
  life.ready();
});
