import { Media } from '../endpoints/chatapp/media/get-media.ts';
import { createChatTemplates } from '../endpoints/chatapp/templates.ts';
import { createChatWebhook } from '../endpoints/chatapp/webhook.ts';
import { Callback } from '../endpoints/chatapp-callbacks/callback.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { requireConfirmed as confirmed } from '../sign-in/require-user.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

export function routeChatapp(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, reading, webhookUrl, unauthorized, largeBodies } = parts;
  const key = keyHandlers(parts);
  on('/v2/chatapp/templates', { get: [...key('read'), createChatTemplates(reading)] });
  const media = new Media(deps);
  on('/v2/chatapp/media/:message_id', { get: [...key('read'), media.get] });
  // Posts to this address include customers' messages. So the key must be allowed to read and send, or to manage.
  const register = once(createChatWebhook(deps, webhookUrl));
  on('/v2/chatapp/webhook', { post: [...key(['send', 'read'], 'manage'), confirmed, message, register] });
  // The provider calls this path. Its signature replaces a key.
  const callback = new Callback(deps, unauthorized, largeBodies);
  on('/chatapp/callback/:callback', { get: [callback.verify], post: [callback.receive] });
}
