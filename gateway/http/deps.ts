import type { Db } from 'mongodb';
import type { ChatAccepter } from '../../shared/money/conversations/open.ts';
import type { Accepter } from '../../shared/money/payment/accept.ts';
import type { Config } from '../../shared/platform/config/settings.ts';
import type { ProcessNotes } from '../../shared/platform/processes/report.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';
import type { ResolveHost } from '../../shared/platform/runtime/resolve-host.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { Tracer } from '../../shared/platform/runtime/tracer.ts';
import type { KeyUses } from './key-uses.ts';
import type { Threads } from './threads.ts';

/** What the gateway is built from. Each file declares the part that it needs. */
export interface GatewayDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Pick<
    Config,
    | 'auditDays'
    | 'authFailuresPerMinute'
    | 'chatBusinessCredits'
    | 'chatMediaAllowHttp'
    | 'chatUserCredits'
    | 'host'
    | 'keyCacheMs'
    | 'maxSegments'
    | 'messageDays'
    | 'port'
    | 'promotionalFrom'
    | 'promotionalUntil'
    | 'publicUrl'
    | 'smtpHost'
    | 'statementSeller'
    | 'statementTaxName'
    | 'statementTaxNumber'
    | 'statementServiceCode'
    | 'statementTaxPercent'
    | 'statementZone'
    | 'textDays'
    | 'trustProxy'
    | 'validityHours'
    | 'verifyPerClient'
    | 'verifyPerNumber'
    | 'webhookAllowHttp'
    | 'webhookAllowSubnets'
    | 'webhookTimeoutMs'
  >;
  readonly accepter: Accepter;
  readonly chatAccepter: ChatAccepter;
  readonly box: SecretBox;
  readonly resolveHost: ResolveHost;
  readonly keyUses: Pick<KeyUses, 'note'>;
  readonly metrics: Metrics;
  readonly tracer?: Tracer | undefined;
  /** What this process has noticed for operators; its reports tell it. */
  readonly notes: ProcessNotes;
  /** For work that would hold the event loop. */
  readonly threads: Pick<Threads, 'readTemplates'>;
  /** Milliseconds between two comment lines of a stream (endpoints/live/). Default 15 s; tests shorten it. */
  readonly beatMs?: number;
  /** Limits for one file of a customer (endpoints/chatapp/get-media.ts). Tests shorten the defaults. */
  readonly fileTimes?: { readonly idleMs: number; readonly wholeMs: number };
  /** Aborted when the process begins to stop. From then on every answer closes its connection. */
  readonly stopping: AbortSignal;
}
