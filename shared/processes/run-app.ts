import type { Db } from 'mongodb';
import { runConfigured } from '../config/run-configured.ts';
import type { Config } from '../config/settings.ts';
import { changeListener, type ListenForChanges } from '../mongo/change-signal.ts';
import { checkStore } from '../mongo/check-store.ts';
import { connectStore, START_WAIT_MS, type Store } from '../mongo/connect.ts';
import { firstReadFailure } from '../mongo/connect-failure.ts';
import { embeddedStoreDir } from '../mongo/embedded-socket.ts';
import { ensureIndexes } from '../mongo/indexes.ts';
import { type Clock, systemClock as clock } from '../runtime/clock.ts';
import { type Lifecycle, StartError } from '../runtime/lifecycle.ts';
import type { Log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { ensureSchema, isCurrent } from '../schema/migrate.ts';
import { startRefusal } from '../store-access/refusal.ts';
import { WriteGate, type WritingParts } from '../store-access/write-gate.ts';
import { endReport, type ProcessNotes, type ProcessReport, reportProcess } from './report.ts';
import { WorkPeriod } from './work-period.ts';

/** What every process of the product has from the start. */
export interface AppDeps {
  readonly config: Config;
  readonly db: Db;
  /** Present only with the embedded store: then all its writers are on this machine. */
  readonly listen: ListenForChanges | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly life: Lifecycle;
}

/**
 * The start of a process that does nothing without writing. `start` wires the process's own parts and calls `life.ready()`. What
 * it registers is closed before the store. While the store is read-only the process has no parts, like after a stop; then `start`
 * is called again.
 */
export function runApp(app: string, start: (deps: AppDeps) => Promise<void>): void {
  runConfigured(app, async (base) => {
    const { gate, store, ...opened } = await openStore(base);
    const { config, db, log, life } = opened;
    let period: WorkPeriod | undefined;
    let begun = false;
    const parts: WritingParts = {
      resume: async () => {
        period = new WorkPeriod(life, log);
        const metrics = new Metrics();
        await tryStore(app, { store, config, log });
        // `prepare` writes already. So the process reports first and then looks whether the store is open: whoever closes the store
        // either waits for this process, or closed it early enough to be seen here.
        const report = await reportProcess(app, db, metrics, log);
        period.life.onStop('report', () => report.end());
        if (!(await gate.isOpenNow())) return;
        await prepare(db, log);
        begun = true;
        await start({ ...opened, metrics, life: period.life });
        // Registered last, so it runs first at a stop: the processes that share its leases then leave none to this one.
        period.life.onStop('works', () => void report.setWorking(false));
        await report.setWorking(true);
      },
      pause: async () => period?.end(),
    };
    life.onStop('report', () => endReport(db, log));
    life.onStop('gate', () => gate.stop());
    life.onStop('work', () => parts.pause());
    await gate.follow(parts, (error) => life.stop('resume_failed', error));
    if (!begun) life.ready();
  });
}

/**
 * The start of a process that also reads for others, and goes on with that while the store is read-only. `start` returns what
 * pauses then. It asks `gate` whether it may write.
 */
export function runReader(
  app: string,
  start: (
    deps: AppDeps & { readonly gate: WriteGate; readonly notes: ProcessNotes },
  ) => Promise<Pick<WritingParts, 'pause'>>,
): void {
  runConfigured(app, async (base) => {
    const notes: ProcessNotes = {};
    const deps = { ...(await openStore(base)), metrics: new Metrics(), notes };
    const { store, config, db, log, life, gate, metrics } = deps;
    let report: ProcessReport | undefined;
    let own: Pick<WritingParts, 'pause'> | undefined;
    const parts: WritingParts = {
      resume: async () => {
        await tryStore(app, { store, config, log });
        report = await reportProcess(app, db, metrics, log, notes); // as in `runApp`
        if (!(await gate.isOpenNow())) return;
        await prepare(db, log);
        await report.setWorking(true);
      },
      pause: async () => {
        await Promise.all([report?.setWorking(false), own?.pause()]);
        await report?.end();
      },
    };
    life.onStop('gate', () => gate.stop());
    life.onStop('report', async () => {
      await report?.end();
      await endReport(db, log);
    });
    await gate.follow(parts, (error) => life.stop('resume_failed', error));
    if (!gate.open && !(await isCurrent(db))) {
      throw new StartError('The store is read-only and of an earlier version: npm run ops -- store read-only off.');
    }
    own = await start(deps);
  });
}

type Base = Parameters<Parameters<typeof runConfigured>[1]>[0];

async function openStore(base: Base) {
  const { config, log, life } = base;
  const gate = new WriteGate({ clock, log });
  const store = await connectStore(config, START_WAIT_MS, gate);
  const { db } = store;
  life.onStop('store', () => store.close());
  const access = await gate.begin(db).catch((error: unknown) => {
    throw firstReadFailure(error, config.mongodbUri === '');
  });
  const refusal = access && startRefusal(access);
  if (refusal !== undefined) throw new StartError(refusal);
  const listen =
    config.mongodbUri === '' ? changeListener(embeddedStoreDir(config.dataDir), config.mongodbDatabase) : undefined;
  return { ...base, store, db, gate, listen, clock };
}

/** Only this app logs warnings about the deployment, so that operators read them once on each machine. */
const TELLING_APP = 'background';

/**
 * Throws `StartError` when the product cannot run on the store. Before anything else that writes: the error of another write would
 * not say what is missing. What it writes itself belongs to no copy of the store.
 */
async function tryStore(
  app: string,
  { store, config, log }: { readonly store: Store; readonly config: Config; readonly log: Log },
): Promise<void> {
  const warnings = config.mongodbUri === '' ? [] : await checkStore(store, clock);
  if (app === TELLING_APP) for (const warning of warnings) log.warn('store_deployment', { warning });
}

async function prepare(db: Db, log: Log): Promise<void> {
  await ensureSchema({ db, clock, log });
  await ensureIndexes(db, (building) => log.info('index_building', { ...building }));
}
