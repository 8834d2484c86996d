import { runApp } from '../../shared/processes/run-app.ts';
import { WorkPeriod } from '../../shared/processes/work-period.ts';
import { startBatches } from '../batches/start.ts';
import { startMaintenance } from '../maintenance/start.ts';
import { startSchedules } from '../schedules/start.ts';

/**
 * Three workers that are idle most of the time share a process, and with it memory, the connection to the store and what wakes a
 * process that has nothing to do (docs/decisions/0115).
 */
const PARTS = [startMaintenance, startBatches, startSchedules];

runApp('background', async (deps) => {
  const { life, log } = deps;
  const parts = PARTS.map((start) => ({ start, period: new WorkPeriod(life, log) }));
  // At once: each takes nearly all the time that the process has to stop.
  life.onStop('parts', async () => {
    await Promise.all(parts.map(({ period }) => period.end()));
  });
  for (const { start, period } of parts) await start({ ...deps, life: period.life });
  life.ready();
});
