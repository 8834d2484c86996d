import express, { type Express } from 'express';
import type { KeyScope } from '../shared/keys/key.ts';
import { requireScope, type ScopeSet } from './access/authenticate.ts';
import { createBatch } from './account/batch.ts';
import { createLedger } from './account/ledger.ts';
import { createAddOptOut, createOptOuts, createRemoveOptOut } from './account/opt-outs.ts';
import { createStopBatch } from './account/stop-batch.ts';
import { Callback } from './chatapp/callback.ts';
import { createChatSend } from './chatapp/send.ts';
import { createSendButtons } from './chatapp/send-buttons.ts';
import { createSendMedia } from './chatapp/send-media.ts';
import { createSendTemplate } from './chatapp/send-template.ts';
import { createSendText } from './chatapp/send-text.ts';
import { createChatTemplates } from './chatapp/templates.ts';
import { createChatWebhook } from './chatapp/webhook.ts';
import { createDocs } from './docs/docs.ts';
import { createHealthz, createReadyz } from './health.ts';
import { begin } from './http/begin.ts';
import type { Handler } from './http/context.ts';
import { createEvents } from './messages/list-events.ts';
import { createMessages } from './messages/list-messages.ts';
import { createMessage } from './messages/show-message.ts';
import { createStatus } from './messages/status.ts';
import { createParts, type Parts } from './parts.ts';
import type { GatewayDeps } from './process/deps.ts';
import { createBalance } from './sms/balance.ts';
import { createCancelSchedule } from './sms/cancel-schedule.ts';
import { createSchedule } from './sms/schedule.ts';
import { createScheduleState } from './sms/schedule-state.ts';
import { createSend } from './sms/send.ts';
import { createSendBulk } from './sms/send-bulk.ts';
import { createTemplates } from './sms/templates.ts';
import { answerError } from './unanswered.ts';

/** The whole API: every path, who may use it, and which handler answers. Builds the app and does not listen. */
export function createApp(deps: GatewayDeps): Express {
  const app = express();
  for (const off of ['x-powered-by', 'etag', 'query parser']) app.disable(off);
  for (const exact of ['case sensitive routing', 'strict routing']) app.enable(exact);
  const parts = createParts(deps);
  const { notFound, methodNotAllowed, undecodable } = parts.unrouted;
  const on: On = (path, methods) => {
    const route = app.route(path);
    if (methods.get !== undefined) route.get(...methods.get);
    if (methods.post !== undefined) route.post(...methods.post);
    if (methods.delete !== undefined) route.delete(...methods.delete);
    route.all(methodNotAllowed(allowOf(methods)));
  };

  app.use(begin(deps));
  // The busiest routes come first, because the router tries them in order.
  routeSms(on, deps, parts);
  routeChatapp(on, deps, parts);
  routeAccount(on, deps, parts);
  routeOpen(on, deps);
  app.use(notFound);
  app.use(undecodable);
  app.use(answerError(deps.log));
  return app;
}

/** Registers one path with its methods. All other methods get 405. */
type On = (path: string, methods: Methods) => void;
type Methods = Readonly<Partial<Record<'get' | 'post' | 'delete', readonly Handler[]>>>;

/** The value of the header `Allow`. Every path that answers GET also answers HEAD. */
function allowOf(methods: Methods): string {
  const named = { get: 'GET, HEAD', post: 'POST', delete: 'DELETE' } as const;
  return (['get', 'delete', 'post'] as const)
    .filter((method) => methods[method] !== undefined)
    .map((method) => named[method])
    .join(', ');
}

/** Every route for keys begins with these: who asks, how often, and whether the key has one of these scopes. */
type Key = (...scopes: readonly (KeyScope | ScopeSet)[]) => readonly Handler[];

function keyHandlers({ authenticate, rateLimit }: Parts): Key {
  return (...scopes) => [
    authenticate,
    rateLimit,
    requireScope(...scopes.map((scope) => (typeof scope === 'string' ? [scope] : scope))),
  ];
}

function routeSms(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, bulk, sending, reading } = parts;
  const key = keyHandlers(parts);
  on('/v2/send', { post: [...key('send'), message, once(createSend(sending))] });
  on('/v2/status/:message_id', { get: [...key('read'), createStatus(deps)] });
  on('/v2/send-bulk', { post: [...key('send'), bulk, once(createSendBulk(sending))] });
  on('/v2/schedule', { post: [...key('send'), bulk, once(createSchedule(sending))] });
  on('/v2/schedule/:schedule_id', {
    get: [...key('read'), createScheduleState(deps)],
    delete: [...key('send'), createCancelSchedule(deps)],
  });
  on('/v2/balance', { get: [...key('read'), createBalance(deps)] });
  on('/v2/templates', { get: [...key('read'), createTemplates(reading)] });
}

function routeChatapp(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, reading, mediaUrl, webhookUrl, unauthorized } = parts;
  const key = keyHandlers(parts);
  const send = createChatSend(deps);
  on('/v2/chatapp/send', { post: [...key('send'), message, once(send(createSendTemplate(deps.db, mediaUrl)))] });
  on('/v2/chatapp/send-text', { post: [...key('send'), message, once(send(createSendText()))] });
  on('/v2/chatapp/send-media', { post: [...key('send'), message, once(send(createSendMedia(mediaUrl)))] });
  on('/v2/chatapp/send-buttons', { post: [...key('send'), message, once(send(createSendButtons()))] });
  on('/v2/chatapp/templates', { get: [...key('read'), createChatTemplates(reading)] });
  // Posts to this address include customers' messages. So the key must be allowed to read and send, or to manage.
  const register = once(createChatWebhook(deps, webhookUrl));
  on('/v2/chatapp/webhook', { post: [...key(['send', 'read'], 'manage'), message, register] });
  // The provider calls this path. Its signature replaces a key.
  const callback = new Callback(deps, unauthorized);
  on('/chatapp/callback/:callback', { get: [callback.verify], post: [callback.receive] });
}

function routeAccount(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, reading, charge } = parts;
  const key = keyHandlers(parts);
  on('/v2/messages', { get: [...key('read'), createMessages(reading)] });
  on('/v2/messages/:message_id', { get: [...key('read'), createMessage(reading)] });
  on('/v2/events', { get: [...key('read'), createEvents(reading)] });
  on('/v2/ledger', { get: [...key('read'), createLedger(reading)] });
  // A key that may send may also say which customers get no messages.
  on('/v2/account/opt-outs', {
    get: [...key('read', 'manage'), createOptOuts(reading)],
    post: [...key('send', 'manage'), message, once(createAddOptOut(deps))],
  });
  on('/v2/account/opt-outs/:opt_out_id', { delete: [...key('manage'), createRemoveOptOut(deps)] });
  on('/v2/batches/:batch_id', {
    get: [...key('read'), createBatch(reading)],
    delete: [...key('send'), createStopBatch({ ...deps, charge })],
  });
}

/** Routes that need no key. */
function routeOpen(on: On, deps: GatewayDeps): void {
  const docs = createDocs();
  on('/healthz', { get: [createHealthz()] });
  on('/readyz', { get: [createReadyz(deps)] });
  on('/docs', { get: [docs.page] });
  on('/openapi.json', { get: [docs.openapi] });
}
