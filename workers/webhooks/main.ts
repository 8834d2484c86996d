import { loadConfig } from '../../shared/config/settings.ts';
import { LEASE_TTL_MS, Lease } from '../../shared/leases/lease.ts';
import { connectStore } from '../../shared/mongo/connect.ts';
import { ensureIndexes } from '../../shared/mongo/indexes.ts';
import { countProcesses, reportProcess } from '../../shared/processes/report.ts';
import { systemClock as clock } from '../../shared/runtime/clock.ts';
import { runProcess } from '../../shared/runtime/lifecycle.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { Metrics } from '../../shared/runtime/metrics.ts';
import { createSecretBox, loadSecretKey } from '../../shared/runtime/secret-box.ts';
import { AddressGuard, guardOptions } from '../../shared/webhooks/address-guard.ts';
import { SHARE_COUNT } from './shares.ts';
import { WebhookWorker } from './worker.ts';

const APP = 'webhooks';

runProcess(createLog(APP, 'info'), async (life) => {
  const config = loadConfig();
  const log = createLog(APP, config.logLevel);
  life.onStop('log', () => log.flush());
  const metrics = new Metrics();
  const guard = new AddressGuard(guardOptions(config));
  const box = createSecretBox(loadSecretKey(config.secretKey, config.dataDir));

  const store = await connectStore(config);
  life.onStop('store', () => store.close());
  const { db } = store;
  await ensureIndexes(db);
  life.onStop('report', reportProcess(APP, db, metrics, clock, log));

  const worker = new WebhookWorker({
    db,
    clock,
    log,
    metrics,
    box,
    guard,
    leases: Array.from({ length: SHARE_COUNT }, (_, n) => new Lease({ name: `webhooks:${n}`, db, clock })),
    leaseRoundMs: LEASE_TTL_MS / 3,
    countWorkers: () => countProcesses(APP, db, clock),
    timeoutMs: config.webhookTimeoutMs,
    perEndpoint: config.webhookConcurrency,
    random: Math.random,
  });
  await worker.start();
  life.onStop('worker', () => worker.stop());
  life.ready();
});
