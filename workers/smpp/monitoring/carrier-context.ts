import type { Db } from 'mongodb';
import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { Log } from '../../../shared/platform/runtime/log.ts';
import type { SmppMetrics } from './metrics.ts';

/** What the parts of a carrier have in common; each names what it takes of it. */
export interface CarrierContext {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: SmppMetrics;
  readonly carrier: CarrierDocument;
  /** Whether the carrier's lease is held at this moment. */
  held(): boolean;
}
