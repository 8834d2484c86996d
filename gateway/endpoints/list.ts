import type { Endpoint } from '../http/endpoint.ts';
import { batch, batches, stopBatch } from './batches/batches.ts';
import { batchFailures } from './batches/failures.ts';
import { events } from './messages/events.ts';
import { message, messages } from './messages/messages.ts';
import { status } from './messages/status.ts';
import { cancelSchedule, scheduleState, schedules } from './schedules/schedules.ts';
import { balance, templates } from './sms/account.ts';
import { schedule } from './sms/schedule.ts';
import { send } from './sms/send.ts';
import { sendBulk } from './sms/send-bulk.ts';
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
  send,
  status,
  sendBulk,
  schedule,
  balance,
  templates,
  messages,
  message,
  events,
  batches,
  batch,
  stopBatch,
  batchFailures,
  schedules,
  scheduleState,
  cancelSchedule,
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
