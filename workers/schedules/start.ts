import type { AppDeps } from '../../shared/platform/processes/run-app.ts';
import { ScheduleWorker } from './worker.ts';

export async function startSchedules({ db, clock, log, metrics, life }: AppDeps): Promise<void> {
  const worker = new ScheduleWorker({ db, clock, log, metrics });
  life.onStop('worker', () => worker.stop());
  await worker.start();
}
