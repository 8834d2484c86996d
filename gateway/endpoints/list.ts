import type { Endpoint } from '../http/endpoint.ts';
import { importTemplates } from './account-templates/import.ts';
import { changeTemplate, removeTemplate, requestTemplate } from './account-templates/requests.ts';
import { accountTemplates, checkTemplate } from './account-templates/templates.ts';
import { editChatTemplate, removeChatTemplate, requestChatTemplate } from './chat-templates/requests.ts';
import { ownChatTemplates } from './chat-templates/templates.ts';
import { chatappSendButtons, chatappSendMedia, chatappSendText } from './chatapp/free-form.ts';
import { chatappMedia } from './chatapp/media/get-media.ts';
import { chatappSend } from './chatapp/send-template.ts';
import { chatappTemplates } from './chatapp/templates.ts';
import { chatappWebhook } from './chatapp/webhook.ts';
import { chatappCallback, chatappCallbackVerify } from './chatapp-callbacks/callback.ts';
import { createKey, keys, revoke, rotateKey, showKey, updateKey } from './keys/keys.ts';
import { removeSender, requestSender, senders } from './senders/senders.ts';
import { deliveries, replayOne, showDelivery } from './webhooks/deliveries.ts';
import { replays, showReplay, startedReplay } from './webhooks/replays.ts';
import {
  createWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhookSecret,
  showWebhook,
  testWebhook,
  updateWebhook,
} from './webhooks/webhooks.ts';

/** All endpoints, in the order of the document. The router tries them in this order too, so the busiest come first. */
export const ENDPOINTS: readonly Endpoint[] = [
  chatappSend,
  chatappSendText,
  chatappSendMedia,
  chatappSendButtons,
  chatappTemplates,
  chatappMedia,
  chatappWebhook,
  chatappCallbackVerify,
  chatappCallback,
  accountTemplates,
  requestTemplate,
  checkTemplate,
  importTemplates,
  changeTemplate,
  removeTemplate,
  ownChatTemplates,
  requestChatTemplate,
  editChatTemplate,
  removeChatTemplate,
  senders,
  requestSender,
  removeSender,
  keys,
  createKey,
  showKey,
  updateKey,
  revoke,
  rotateKey,
  listWebhooks,
  createWebhook,
  showWebhook,
  updateWebhook,
  removeWebhook,
  rotateWebhookSecret,
  testWebhook,
  deliveries,
  showDelivery,
  replayOne,
  replays,
  startedReplay,
  showReplay,
];
