import { schedule } from 'node-cron';
import { runApp } from '../../shared/processes/run-app.ts';
import { createAnnouncer } from '../../shared/webhooks/announce.ts';
import { createDuties } from './duties.ts';

runApp('maintenance', async ({ config, db, clock, log, metrics, life }) => {
  const announcer = createAnnouncer({ db, clock });
  const duties = createDuties({
    db,
    clock,
    log,
    metrics,
    announcer,
    retention: { messages: config.messageDays, deliveries: config.deliveryDays, batches: config.batchDays },
  });
  life.onStop('lease', () => duties.release());

  await duties.keepLease();
  const tasks = [
    // Every third of the lease's time.
    schedule('*/5 * * * * *', () => duties.keepLease(), { noOverlap: true }),
    // A waiting message leaves at most this much late.
    schedule('* * * * * *', () => duties.sweepDue(), { noOverlap: true }),
    schedule('*/10 * * * * *', () => duties.finishPending(), { noOverlap: true }),
    schedule('0 * * * * *', () => duties.pruneBatches(), { noOverlap: true }),
    schedule('0 17 * * * *', () => duties.pruneOld(), { noOverlap: true }),
    schedule('0 47 3 * * *', () => duties.pruneConversations(), { noOverlap: true }),
  ];
  life.onStop('timetable', async () => {
    for (const task of tasks) await task.destroy();
  });
  life.ready();
});
