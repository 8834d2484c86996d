import { runApp } from '../../shared/processes/run-app.ts';
import { ScheduleWorker } from './worker.ts';

runApp('schedules', async ({ db, clock, log, metrics, life }) => {
  const worker = new ScheduleWorker({ db, clock, log, metrics });
  life.onStop('worker', () => worker.stop());
  await worker.start();
  life.ready();
});
