import type { Db } from 'mongodb';
import { createApp } from '../../gateway/app.ts';
import type { GatewayDeps } from '../../gateway/deps.ts';
import { GatewayServer } from '../../gateway/http/server.ts';
import type { KeyScope } from '../../shared/keys/key.ts';
import { createKey } from '../../shared/keys/store.ts';
import { createAccepter } from '../../shared/messages/accept.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { silentLog } from '../../shared/runtime/log.ts';
import { Metrics } from '../../shared/runtime/metrics.ts';

/** A gateway on a free port of 127.0.0.1, in this process. */
export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly server: GatewayServer;
  /** As a signal would: answers close their connections from now on. */
  readonly stopping: AbortController;
  close(): Promise<void>;
}

/** Tests of failing keys all come from one address; the limit has tests of its own. */
export const TEST_CONFIG: GatewayDeps['config'] = {
  authFailuresPerMinute: 1_000_000,
  dltVarMax: 30,
  keyCacheMs: 2_000,
  maxSegments: 10,
  trustProxy: [],
  validityHours: 48,
};

export async function openGateway(db: Db, overrides: Partial<GatewayDeps> = {}): Promise<TestGateway> {
  const clock = overrides.clock ?? systemClock;
  const log = overrides.log ?? silentLog;
  const stopping = new AbortController();
  const accepter = createAccepter({ db, clock, log });
  const app = createApp({
    db,
    clock,
    log,
    config: TEST_CONFIG,
    accepter,
    batchAccepter: accepter,
    booker: accepter,
    metrics: new Metrics(),
    stopping: stopping.signal,
    ...overrides,
  });
  const server = new GatewayServer(app);
  const port = await server.listen('127.0.0.1', 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    stopping,
    close: async () => {
      stopping.abort();
      await server.drain();
    },
  };
}

/** A new key's text. */
export async function makeKey(
  db: Db,
  account: AccountId,
  scopes: readonly KeyScope[] = ['send', 'read'],
  expiresAt?: Date,
  perMinute?: number,
): Promise<string> {
  const expiry = expiresAt === undefined ? {} : { expiresAt };
  const limit = perMinute === undefined ? {} : { perMinute };
  return (await createKey(db, systemClock, { account, name: 'test', scopes, ...expiry, ...limit })).key;
}
