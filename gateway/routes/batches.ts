import { createBatchFailures } from '../endpoints/batches/failures.ts';
import { createBatches } from '../endpoints/batches/list-batches.ts';
import { createBatch } from '../endpoints/batches/show-batch.ts';
import { createStopBatch } from '../endpoints/batches/stop-batch.ts';
import { createCancelSchedule } from '../endpoints/schedules/cancel-schedule.ts';
import { createSchedules } from '../endpoints/schedules/list-schedules.ts';
import { createScheduleState } from '../endpoints/schedules/show-schedule.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

/** What became of bulk requests and schedules, and what ends them. */
export function routeBatches(on: On, deps: GatewayDeps, parts: Parts): void {
  const { reading, charge } = parts;
  const key = keyHandlers(parts);
  on('/v2/batches', { get: [...key('read'), createBatches(reading)] });
  on('/v2/batches/:batch_id', {
    get: [...key('read'), noQuery, createBatch(reading)],
    delete: [...key('send'), noQuery, createStopBatch({ ...deps, charge })],
  });
  on('/v2/batches/:batch_id/failures', { get: [...key('read'), createBatchFailures(reading)] });
  on('/v2/schedules', { get: [...key('read'), createSchedules(reading)] });
  on('/v2/schedule/:schedule_id', {
    get: [...key('read'), noQuery, createScheduleState(deps)],
    delete: [...key('send'), noQuery, createCancelSchedule(deps)],
  });
}
