import { runLeased } from '../../shared/processes/run-leased.ts';
import { createAnnouncer } from '../../shared/webhooks/announce.ts';
import { BatchWorker } from './worker.ts';

/** Number of partitions that the batches are divided into. */
const PARTITIONS = 4;

runLeased('batches', PARTITIONS, (deps) => new BatchWorker({ ...deps, announcer: createAnnouncer(deps) }));
