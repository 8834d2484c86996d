import type { Db } from 'mongodb';
import type { Config } from '../shared/config/settings.ts';
import type { Accepter, BatchAccepter, Booker } from '../shared/messages/accept.ts';
import type { Clock } from '../shared/runtime/clock.ts';
import type { Log } from '../shared/runtime/log.ts';
import type { Metrics } from '../shared/runtime/metrics.ts';

/** What the gateway is built from; every file takes the part that it needs. */
export interface GatewayDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Pick<
    Config,
    | 'authFailuresPerMinute'
    | 'dltVarMax'
    | 'keyCacheMs'
    | 'maxSegments'
    | 'promotionalFrom'
    | 'promotionalUntil'
    | 'trustProxy'
    | 'validityHours'
  >;
  readonly accepter: Accepter;
  readonly batchAccepter: BatchAccepter;
  readonly booker: Booker;
  readonly metrics: Metrics;
  /** Aborted when the process begins to stop: answers then close their connection. */
  readonly stopping: AbortSignal;
}
