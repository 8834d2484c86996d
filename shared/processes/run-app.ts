import type { Db } from 'mongodb';
import { runConfigured } from '../config/run-configured.ts';
import type { Config } from '../config/settings.ts';
import { changeListener, type ListenForChanges } from '../mongo/change-signal.ts';
import { connectStore } from '../mongo/connect.ts';
import { embeddedStoreDir } from '../mongo/embedded-socket.ts';
import { ensureIndexes } from '../mongo/indexes.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { Lifecycle } from '../runtime/lifecycle.ts';
import type { Log } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { ensureSchema } from '../schema/migrate.ts';
import { reportProcess } from './report.ts';

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
 * The start that all processes except the store share: settings, log, the store with its indexes, reported metrics. `start` wires
 * the process's own parts and calls `life.ready()`. What it registers is closed before the store.
 */
export function runApp(app: string, start: (deps: AppDeps) => Promise<void>): void {
  runConfigured(app, async ({ config, log, life }) => {
    const metrics = new Metrics();
    const store = await connectStore(config);
    life.onStop('store', () => store.close());
    await ensureSchema({ db: store.db, clock: systemClock, log });
    await ensureIndexes(store.db);
    life.onStop('report', reportProcess(app, store.db, metrics, systemClock, log));
    const listen =
      config.mongodbUri === '' ? changeListener(embeddedStoreDir(config.dataDir), config.mongodbDatabase) : undefined;
    await start({ config, db: store.db, listen, clock: systemClock, log, metrics, life });
  });
}
