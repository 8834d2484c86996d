import { LEASE_TTL_MS, Lease } from '../leases/lease.ts';
import type { LeasedWorkerOptions } from '../leases/leased-worker.ts';
import { countWorking } from './report.ts';
import { type AppDeps, runApp } from './run-app.ts';

interface Worker {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs a process with one worker of leased partitions. `partitions` is their number. All processes of the app must agree on it,
 * so change it only while none of them runs.
 */
export function runLeased(
  app: string,
  partitions: number,
  make: (deps: AppDeps & LeasedWorkerOptions) => Worker | Promise<Worker>,
): void {
  runApp(app, async (deps) => {
    const { db, clock, life } = deps;
    const worker = await make({
      ...deps,
      leases: Array.from({ length: partitions }, (_, n) => new Lease({ name: `${app}:${n}`, db, clock })),
      leaseRoundMs: LEASE_TTL_MS / 3,
      countWorkers: () => countWorking(app, db),
    });
    await worker.start();
    life.onStop('worker', () => worker.stop());
    life.ready();
  });
}
