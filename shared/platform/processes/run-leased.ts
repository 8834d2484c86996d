import { LEASE_TTL_MS, Lease } from '../leases/lease.ts';
import type { LeasedWorkerOptions } from '../leases/leased-worker.ts';
import { countWorking } from './report.ts';
import { type AppDeps, runApp } from './run-app.ts';

interface Worker {
  start(): Promise<void>;
  stop(): Promise<void>;
}

type Make = (deps: AppDeps & LeasedWorkerOptions) => Worker | Promise<Worker>;

interface LeasedWork {
  /** The process that does it. */
  readonly app: string;
  /** Its leases are `<name>:<n>`. */
  readonly name: string;
  /** Their number. All processes of the app must agree on it, so change it only while none of them runs. */
  readonly partitions: number;
}

/** Runs a process with one worker of leased partitions. */
export function runLeased(app: string, partitions: number, make: Make): void {
  runApp(app, async (deps) => {
    await startLeased(deps, { app, name: app, partitions }, make);
    deps.life.ready();
  });
}

/** Starts such a worker in a process that has others besides. */
export async function startLeased(deps: AppDeps, { app, name, partitions }: LeasedWork, make: Make): Promise<void> {
  const { db, clock, life } = deps;
  const worker = await make({
    ...deps,
    leases: Array.from({ length: partitions }, (_, n) => new Lease({ name: `${name}:${n}`, db, clock })),
    leaseRoundMs: LEASE_TTL_MS / 3,
    countWorkers: () => countWorking(app, db),
  });
  await worker.start();
  life.onStop('worker', () => worker.stop());
}
