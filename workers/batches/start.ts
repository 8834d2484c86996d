import { createAnnouncer } from '../../shared/events/webhooks/announce.ts';
import { type AppDeps, startLeased } from '../../shared/platform/processes/run-app.ts';
import { BatchWorker } from './worker.ts';

/** Number of partitions that the batches are divided into. */
const PARTITIONS = 4;

export function startBatches(deps: AppDeps): Promise<void> {
  const work = { app: 'background', name: 'batches', partitions: PARTITIONS };
  return startLeased(deps, work, (given) => new BatchWorker({ ...given, announcer: createAnnouncer(deps) }));
}
