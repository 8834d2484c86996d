import { schedule } from 'node-cron';
import { loadConfig } from '../../shared/config/settings.ts';
import { connectStore } from '../../shared/mongo/connect.ts';
import { ensureIndexes } from '../../shared/mongo/indexes.ts';
import { reportProcess } from '../../shared/processes/report.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { runProcess } from '../../shared/runtime/lifecycle.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { Metrics } from '../../shared/runtime/metrics.ts';
import { createAnnouncer } from '../../shared/webhooks/announce.ts';
import { createDuties } from './duties.ts';

runProcess(createLog('maintenance', 'info'), async (life) => {
  const config = loadConfig();
  const log = createLog('maintenance', config.logLevel);
  const store = await connectStore(config);
  life.onStop('store', () => store.close());
  await ensureIndexes(store.db);

  const metrics = new Metrics();
  const announcer = createAnnouncer({ db: store.db, clock: systemClock });
  const duties = createDuties({ db: store.db, clock: systemClock, log, metrics, announcer });
  life.onStop('lease', () => duties.release());
  life.onStop('report', reportProcess('maintenance', store.db, metrics, systemClock, log));

  await duties.keepLease();
  const tasks = [
    // Every third of the lease's time.
    schedule('*/5 * * * * *', () => duties.keepLease(), { noOverlap: true }),
    // A waiting message leaves at most this much late.
    schedule('* * * * * *', () => duties.sweepDue(), { noOverlap: true }),
    schedule('*/10 * * * * *', () => duties.finishPending(), { noOverlap: true }),
  ];
  life.onStop('timetable', async () => {
    for (const task of tasks) await task.destroy();
  });
  life.ready();
});
