import { AddressGuard, guardOptions } from '../../shared/events/webhooks/address-guard.ts';
import { openSecretBox, runLeased } from '../../shared/platform/processes/run-app.ts';
import { WebhookWorker } from './worker.ts';

const PARTITIONS = 8;

runLeased('webhooks', PARTITIONS, async (deps) => {
  const { config } = deps;
  return new WebhookWorker({
    ...deps,
    box: await openSecretBox(config, deps.db),
    guard: new AddressGuard(guardOptions(config)),
    timeoutMs: config.webhookTimeoutMs,
    perHost: config.webhookConcurrency,
    random: Math.random,
  });
});
