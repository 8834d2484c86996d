import { createStatus } from '../endpoints/messages/status.ts';
import { createBalance } from '../endpoints/sms/balance.ts';
import { createSchedule } from '../endpoints/sms/schedule.ts';
import { createSend } from '../endpoints/sms/send.ts';
import { createSendBulk } from '../endpoints/sms/send-bulk.ts';
import { createTemplates } from '../endpoints/sms/templates.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

export function routeSms(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, bulk, sending, reading } = parts;
  const key = keyHandlers(parts);
  on('/v2/send', { post: [...key('send'), message, once(createSend(sending))] });
  on('/v2/status/:message_id', { get: [...key('read'), noQuery, createStatus(deps)] });
  on('/v2/send-bulk', { post: [...key('send'), bulk, once(createSendBulk(sending))] });
  on('/v2/schedule', { post: [...key('send'), bulk, once(createSchedule(sending))] });
  on('/v2/balance', { get: [...key('read'), noQuery, createBalance(deps)] });
  on('/v2/templates', { get: [...key('read'), createTemplates(reading)] });
}
