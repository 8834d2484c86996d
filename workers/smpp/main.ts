import { loadConfig } from '../../shared/config/settings.ts';
import { connectStore } from '../../shared/mongo/connect.ts';
import { ensureIndexes } from '../../shared/mongo/indexes.ts';
import { reportProcess } from '../../shared/processes/report.ts';
import { systemClock as clock } from '../../shared/runtime/clock.ts';
import { runProcess } from '../../shared/runtime/lifecycle.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { Metrics } from '../../shared/runtime/metrics.ts';
import { createSecretBox, loadSecretKey } from '../../shared/runtime/secret-box.ts';
import { SmppWorker } from './worker.ts';

const APP = 'smpp';

runProcess(createLog(APP, 'info'), async (life) => {
  const config = loadConfig();
  const log = createLog(APP, config.logLevel);
  life.onStop('log', () => log.flush());
  const metrics = new Metrics();
  const box = createSecretBox(loadSecretKey(config.secretKey, config.dataDir));

  const store = await connectStore(config);
  life.onStop('store', () => store.close());
  const { db } = store;
  await ensureIndexes(db);
  life.onStop('report', reportProcess(APP, db, metrics, clock, log));

  const worker = new SmppWorker({ db, clock, log, metrics, box });
  worker.start();
  life.onStop('worker', () => worker.stop());
  life.ready();
});
