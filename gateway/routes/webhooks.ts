import { requireConfirmed as confirmed } from '../access/require-user.ts';
import { createWebhookCreation } from '../endpoints/webhooks/create-webhook.ts';
import { createDeliveries, createShowDelivery } from '../endpoints/webhooks/list-deliveries.ts';
import { createShowWebhook, createWebhooks } from '../endpoints/webhooks/list-webhooks.ts';
import { createReplayDelivery } from '../endpoints/webhooks/replay-delivery.ts';
import { createReplayStart, createReplays, createShowReplay } from '../endpoints/webhooks/replays.ts';
import { createSecretRotation } from '../endpoints/webhooks/rotate-secret.ts';
import { createTestWebhook } from '../endpoints/webhooks/test-webhook.ts';
import { createRemoveWebhook, createUpdateWebhook } from '../endpoints/webhooks/update-webhook.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

export function routeWebhooks(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, noFields, reading, webhookUrl, counter } = parts;
  const key = keyHandlers(parts);
  const one = '/v2/account/webhooks/:webhook_id';
  on('/v2/account/webhooks', {
    get: [...key('read', 'manage'), noQuery, createWebhooks(reading)],
    post: [...key('manage'), confirmed, message, once(createWebhookCreation(deps, webhookUrl))],
  });
  on(one, {
    get: [...key('read', 'manage'), noQuery, createShowWebhook(reading)],
    patch: [...key('manage'), message, createUpdateWebhook(deps)],
    delete: [...key('manage'), noQuery, createRemoveWebhook(deps)],
  });
  on(`${one}/rotate`, { post: [...key('manage'), confirmed, message, once(createSecretRotation(deps))] });
  on(`${one}/test`, { post: [...key('manage'), noFields, createTestWebhook(deps, counter)] });
  // The bodies of deliveries have what customers wrote.
  on(`${one}/deliveries`, { get: [...key('read'), createDeliveries(reading)] });
  on(`${one}/deliveries/:event_id`, { get: [...key('read'), noQuery, createShowDelivery(reading)] });
  on(`${one}/deliveries/:event_id/replay`, { post: [...key('manage'), noFields, createReplayDelivery(deps)] });
  on(`${one}/replays`, {
    get: [...key('read', 'manage'), createReplays(reading)],
    post: [...key('manage'), message, once(createReplayStart(deps))],
  });
  on(`${one}/replays/:replay_id`, { get: [...key('read', 'manage'), noQuery, createShowReplay(reading)] });
}
