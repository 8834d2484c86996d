import type { Db } from 'mongodb';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { Log } from '../../../shared/platform/runtime/log.ts';
import type { SmppMetrics } from './metrics.ts';

/** Shared by the parts of a carrier; each picks the members that it needs. */
export interface CarrierContext {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: SmppMetrics;
  readonly carrier: CarrierDocument;
  held(): boolean;
}
