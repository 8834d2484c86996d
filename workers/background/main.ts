import { type AppDeps, runApp } from '../../shared/platform/processes/run-app.ts';
import { errorFields } from '../../shared/platform/runtime/log.ts';
import { startBatches } from '../batches/worker.ts';
import { startMail } from '../mail/worker.ts';
import { startMaintenance } from '../maintenance/start.ts';
import { startSchedules } from '../schedules/worker.ts';

/** These workers are mostly idle: one process for all saves memory, connections and wake-ups (docs/decisions/0034). */
const WORKERS = [startMaintenance, startBatches, startSchedules, startMail];

runApp('background', async (deps) => {
  for (const start of WORKERS) await startPart(start, deps);
  deps.life.ready();
});

async function startPart(start: (deps: AppDeps) => Promise<void>, deps: AppDeps): Promise<void> {
  const { life, log } = deps;
  const closers: (() => Promise<void> | void)[] = [];
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    for (const closer of closers.reverse()) {
      try {
        await closer();
      } catch (error) {
        log.error('stop_failed', { part: start.name, ...errorFields(error) });
      }
    }
  };
  const end = (): Promise<void> => {
    closed ??= close();
    return closed;
  };
  // All begin to close at once: each may take nearly all the time that the process has.
  life.stopping.addEventListener('abort', () => void end());
  life.onStop(start.name, end);
  await start({ ...deps, life: { ...life, onStop: (_, closer) => void closers.push(closer) } });
}
