import { LEASE_TTL_MS, Lease } from '../../shared/leases/lease.ts';
import { countProcesses } from '../../shared/processes/report.ts';
import { runApp } from '../../shared/processes/run-app.ts';
import { createSecretBox, loadSecretKey } from '../../shared/runtime/secret-box.ts';
import { AddressGuard, guardOptions } from '../../shared/webhooks/address-guard.ts';
import { WebhookWorker } from './worker.ts';

const APP = 'webhooks';
/** Shares of the endpoints. Changed only while no webhook worker runs. */
const SHARES = 8;

runApp(APP, async ({ config, db, listen, clock, log, metrics, life }) => {
  const worker = new WebhookWorker({
    db,
    clock,
    log,
    metrics,
    box: createSecretBox(loadSecretKey(config.secretKey, config.dataDir)),
    guard: new AddressGuard(guardOptions(config)),
    leases: Array.from({ length: SHARES }, (_, n) => new Lease({ name: `webhooks:${n}`, db, clock })),
    leaseRoundMs: LEASE_TTL_MS / 3,
    listen,
    countWorkers: () => countProcesses(APP, db, clock),
    timeoutMs: config.webhookTimeoutMs,
    perEndpoint: config.webhookConcurrency,
    random: Math.random,
  });
  await worker.start();
  life.onStop('worker', () => worker.stop());
  life.ready();
});
