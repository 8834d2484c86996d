import type { Endpoint } from '../http/endpoint.ts';
import { audit } from './audit/audit.ts';
import { batch, batches, stopBatch } from './batches/batches.ts';
import { batchFailures } from './batches/failures.ts';
import { createKey, keys, revoke, rotateKey, showKey, updateKey } from './keys/keys.ts';
import { ledger, ledgerCsv } from './ledger/ledger.ts';
import { events } from './messages/events.ts';
import { message, messages } from './messages/messages.ts';
import { status } from './messages/status.ts';
import { numbers } from './numbers/numbers.ts';
import { addOptOut, optOuts, removeOptOut } from './numbers/opt-outs.ts';
import { cancelSchedule, scheduleState, schedules } from './schedules/schedules.ts';
import { balance, templates } from './sms/account.ts';
import { schedule } from './sms/schedule.ts';
import { send } from './sms/send.ts';
import { sendBulk } from './sms/send-bulk.ts';
import { accountOverview } from './statistics/overview.ts';
import { accountStatistics } from './statistics/statistics.ts';
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
  accountOverview,
  accountStatistics,
  ledger,
  ledgerCsv,
  optOuts,
  addOptOut,
  removeOptOut,
  numbers,
  audit,
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
