import { runLeased } from '../../shared/processes/run-leased.ts';
import { createSecretBox, loadSecretKey } from '../../shared/runtime/secret-box.ts';
import { AddressGuard, guardOptions } from '../../shared/webhooks/address-guard.ts';
import { WebhookWorker } from './worker.ts';

/** Number of partitions that the endpoints are divided into. */
const PARTITIONS = 8;

runLeased('webhooks', PARTITIONS, (deps) => {
  const { config } = deps;
  return new WebhookWorker({
    ...deps,
    box: createSecretBox(loadSecretKey(config.secretKey, config.dataDir)),
    guard: new AddressGuard(guardOptions(config)),
    timeoutMs: config.webhookTimeoutMs,
    perEndpoint: config.webhookConcurrency,
    random: Math.random,
  });
});
