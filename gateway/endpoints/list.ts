import type { Endpoint } from '../http/endpoint.ts';
import { audit } from './audit/audit.ts';
import { createKey, keys, revoke, rotateKey, showKey, updateKey } from './keys/keys.ts';
import { ledger, ledgerCsv } from './ledger/ledger.ts';
import { numbers } from './numbers/numbers.ts';
import { addOptOut, optOuts, removeOptOut } from './numbers/opt-outs.ts';
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
  sendBulk,
  schedule,
  balance,
  templates,
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
