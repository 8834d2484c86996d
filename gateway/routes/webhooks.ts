import { createDeliveries, createShowDelivery } from '../account/deliveries/list-deliveries.ts';
import { createReplayDelivery } from '../account/deliveries/replay-delivery.ts';
import { createReplayStart, createReplays, createShowReplay } from '../account/deliveries/replays.ts';
import { createWebhookCreation } from '../account/webhooks/create-webhook.ts';
import { createShowWebhook, createWebhooks } from '../account/webhooks/list-webhooks.ts';
import { createSecretRotation } from '../account/webhooks/rotate-secret.ts';
import { createTestWebhook } from '../account/webhooks/test-webhook.ts';
import { createRemoveWebhook, createUpdateWebhook } from '../account/webhooks/update-webhook.ts';
import { noQuery } from '../http/no-query.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { requireConfirmed as confirmed } from '../sign-in/require-user.ts';
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
