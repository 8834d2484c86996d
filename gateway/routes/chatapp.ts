import { Media } from '../endpoints/chatapp/media/get-media.ts';
import { createChatSend } from '../endpoints/chatapp/send.ts';
import { createSendButtons } from '../endpoints/chatapp/send-buttons.ts';
import { createSendMedia } from '../endpoints/chatapp/send-media.ts';
import { createSendTemplate } from '../endpoints/chatapp/send-template.ts';
import { createSendText } from '../endpoints/chatapp/send-text.ts';
import { createChatTemplates } from '../endpoints/chatapp/templates.ts';
import { createChatWebhook } from '../endpoints/chatapp/webhook.ts';
import { Callback } from '../endpoints/chatapp-callbacks/callback.ts';
import type { GatewayDeps } from '../process/deps.ts';
import { requireConfirmed as confirmed } from '../sign-in/require-user.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

export function routeChatapp(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, reading, mediaUrl, webhookUrl, unauthorized, largeBodies } = parts;
  const key = keyHandlers(parts);
  const send = createChatSend(deps);
  on('/v2/chatapp/send', { post: [...key('send'), message, once(send(createSendTemplate(deps.db, mediaUrl)))] });
  on('/v2/chatapp/send-text', { post: [...key('send'), message, once(send(createSendText()))] });
  on('/v2/chatapp/send-media', { post: [...key('send'), message, once(send(createSendMedia(mediaUrl)))] });
  on('/v2/chatapp/send-buttons', { post: [...key('send'), message, once(send(createSendButtons()))] });
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
