import type { Db } from 'mongodb';
import { runConfigured } from '../config/run-configured.ts';
import type { Config } from '../config/settings.ts';
import { checkStore } from '../mongo/check-store.ts';
import { connectStore, START_WAIT_MS } from '../mongo/connect.ts';
import { firstReadFailure } from '../mongo/connect-failure.ts';
import { ensureIndexes } from '../mongo/indexes.ts';
import { ensureSchema, expectSchema } from '../mongo/schema.ts';
import { changeListener, type ListenForChanges } from '../runtime/change-signal.ts';
import { type Clock, systemClock as clock } from '../runtime/clock.ts';
import { embeddedStoreDir } from '../runtime/embedded-socket.ts';
import type { Lifecycle } from '../runtime/lifecycle.ts';
import type { Log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { processName, thisProcess } from '../runtime/process-identity.ts';
import { Tracer } from '../runtime/tracer.ts';
import { type ProcessNotes, reportProcess } from './report.ts';

/** What every process of the product has from the start. */
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
  /** What the process has noticed for operators; each of its reports tells it. */
  readonly notes: ProcessNotes;
}

/** Only this app logs warnings about the deployment, so that operators read them once on each machine. */
const TELLING_APP = 'background';

/**
 * The start of a process that uses the store. `start` wires the process's own parts and calls `life.ready()`. What it registers is
 * closed before the store.
 */
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
