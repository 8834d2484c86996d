import { createSenders } from '../endpoints/senders/list.ts';
import { createRemoveSender } from '../endpoints/senders/remove.ts';
import { createRequestSender } from '../endpoints/senders/request.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

export function routeAccount(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, reading } = parts;
  const key = keyHandlers(parts);
  on('/v2/account/senders', {
    get: [...key('read', 'manage'), createSenders(reading)],
    post: [...key('manage'), message, once(createRequestSender(deps))],
  });
  on('/v2/account/senders/:sender_id', { delete: [...key('manage'), noQuery, createRemoveSender(deps)] });
}
