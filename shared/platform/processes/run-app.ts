import { existsSync } from 'node:fs';
import type { Db } from 'mongodb';
import { runConfigured } from '../config/run-configured.ts';
import type { Config } from '../config/settings.ts';
import { LEASE_TTL_MS, Lease } from '../leases/lease.ts';
import type { LeasedWorkerOptions } from '../leases/leased-worker.ts';
import { connectStore, firstReadFailure, START_WAIT_MS } from '../mongo/connect.ts';
import { checkStore } from '../mongo/feature-probe.ts';
import { ensureIndexes } from '../mongo/indexes.ts';
import { ensureSchema, expectSchema } from '../mongo/schema.ts';
import { changeListener, type ListenForChanges } from '../runtime/change-signal.ts';
import { type Clock, systemClock as clock } from '../runtime/clock.ts';
import { type Lifecycle, StartError } from '../runtime/lifecycle.ts';
import type { Log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { processName, thisProcess } from '../runtime/process-identity.ts';
import { createSecretBox, loadSecretKeys, type SecretBox, secretKeyFile } from '../runtime/secret-box.ts';
import { Tracer } from '../runtime/tracer.ts';
import { embeddedStoreDir } from '../runtime/unix-socket.ts';
import { countWorking, type ProcessNotes, reportProcess } from './report.ts';

export interface AppDeps {
  readonly config: Config;
  readonly db: Db;
  /** Present only with the embedded store: then all its writers are on this machine. */
  readonly listen: ListenForChanges | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined: nobody wants traces. */
  readonly tracer: Tracer | undefined;
  readonly life: Lifecycle;
  /** Each of the process's reports tells them. */
  readonly notes: ProcessNotes;
}

/** Logs warnings about the deployment, so that operators read them once on each machine. */
const TELLING_APP = 'background';

/** For a process that uses the store. `start` calls `life.ready()`; its parts are closed before the store. */
export function runApp(app: string, start: (deps: AppDeps) => Promise<void>): void {
  runConfigured(app, async ({ config, log, life }) => {
    const embedded = config.mongodbUri === '';
    const store = await connectStore(config, START_WAIT_MS);
    const { db } = store;
    life.onStop('store', () => store.close());
    await expectSchema(db).catch((error: unknown) => {
      throw firstReadFailure(error, embedded);
    });
    // Before anything else that writes: the error of another write would not say what the deployment lacks.
    const warnings = embedded ? [] : await checkStore(store, clock);
    if (app === TELLING_APP) for (const warning of warnings) log.warn('store_deployment', { warning });
    const [metrics, notes]: [Metrics, ProcessNotes] = [new Metrics(), {}];
    const report = await reportProcess(app, db, metrics, log, notes);
    life.onStop('report', () => report.end());
    const { otlpUrl: url, otlpPercent: percent } = config;
    const instance = processName(thisProcess());
    const tracer = url === '' ? undefined : new Tracer({ url, percent, app, instance, log, metrics });
    if (tracer !== undefined) life.onStop('tracer', () => tracer.stop());
    // After the report, so that whoever copies the store (`store export`) either sees this process or is seen by it.
    await ensureSchema(db);
    await ensureIndexes(db, (building) => log.info('index_building', { ...building }));
    const listen = embedded ? changeListener(embeddedStoreDir(config.dataDir), config.mongodbDatabase) : undefined;
    await start({ config, db, listen, clock, log, metrics, tracer, life, notes });
    // Registered last, so it runs first at a stop: the processes that share its leases then leave none to this one.
    life.onStop('works', () => void report.setWorking(false));
    await report.setWorking(true);
  });
}

interface Worker {
  start(): Promise<void>;
  stop(): Promise<void>;
}

type Make = (deps: AppDeps & LeasedWorkerOptions) => Worker | Promise<Worker>;

interface LeasedWork {
  readonly app: string;
  readonly name: string;
  /** All processes of the app must agree on the number: change it only while none of them runs. */
  readonly partitions: number;
}

export function runLeased(app: string, partitions: number, make: Make): void {
  runApp(app, async (deps) => {
    await startLeased(deps, { app, name: app, partitions }, make);
    deps.life.ready();
  });
}

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

/** Makes the key at the first start. Throws `StartError` when it is lost although secrets are sealed with it. */
export async function openSecretBox(
  { secretKey, dataDir }: Pick<Config, 'secretKey' | 'dataDir'>,
  db: Db,
): Promise<SecretBox> {
  const file = secretKeyFile(dataDir);
  const isMissing = () => secretKey === '' && !existsSync(file);
  // Looked for again: another process may have made the key meanwhile and sealed the first secret with it.
  if (isMissing() && (await hasSecrets(db)) && isMissing()) throw new StartError(lostKey(file));
  return createSecretBox(loadSecretKeys(secretKey, dataDir));
}

function lostKey(file: string): string {
  return `There is no secret key (HARKARA_SECRET_KEY, or ${file}), but the store has secrets that were sealed with one: put it back, from your copy or from another machine of the product. Only when it is lost for good, make a new one with \`openssl rand -hex 32 > ${file}\`, and enter all secrets again (docs/operating.md).`;
}

/** Secrets that are kept until somebody changes them. */
async function hasSecrets(db: Db): Promise<boolean> {
  const found = await Promise.all([
    db.collection('carriers').findOne({}),
    db.collection('providers').findOne({}),
    db.collection('endpoints').findOne({}),
    db.collection('users').findOne({ totp: { $exists: true } }),
  ]);
  return found.some((one) => one !== null);
}
