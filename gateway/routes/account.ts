import { createSenders } from '../account/senders/list.ts';
import { createRemoveSender } from '../account/senders/remove.ts';
import { createRequestSender } from '../account/senders/request.ts';
import { noQuery } from '../http/no-query.ts';
import { createEvents } from '../messages/list-events.ts';
import { createMessages } from '../messages/list-messages.ts';
import { createMessage } from '../messages/show-message.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

export function routeAccount(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, reading } = parts;
  const key = keyHandlers(parts);
  on('/v2/messages', { get: [...key('read'), createMessages(reading)] });
  on('/v2/messages/:message_id', { get: [...key('read'), noQuery, createMessage(reading)] });
  on('/v2/events', { get: [...key('read'), createEvents(reading)] });
  on('/v2/account/senders', {
    get: [...key('read', 'manage'), createSenders(reading)],
    post: [...key('manage'), message, once(createRequestSender(deps))],
  });
  on('/v2/account/senders/:sender_id', { delete: [...key('manage'), noQuery, createRemoveSender(deps)] });
}
