import express, { type Express } from 'express';
import type { KeyScope } from '../shared/keys/key.ts';
import { DEFAULT_SLOT_LIMITS } from '../shared/templates/slot.ts';
import { guardOptions } from '../shared/webhooks/address-guard.ts';
import { createAuthenticate, createIdentify, requireScope, type ScopeSet } from './access/authenticate.ts';
import { RateCounter } from './access/counter.ts';
import { createDearReads } from './access/dear-reads.ts';
import { createCharge, createRateLimit } from './access/rate-limit.ts';
import { createUnauthorized } from './access/unauthorized.ts';
import { createBatch } from './account/batch.ts';
import { createLedger } from './account/ledger.ts';
import { createStopBatch } from './account/stop-batch.ts';
import { Callback } from './chatapp/callback.ts';
import { createUrlCheck } from './chatapp/public-url.ts';
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
import { createCallerAddress } from './http/caller-address.ts';
import type { Handler, Reply } from './http/context.ts';
import { jsonBody } from './http/json-body.ts';
import { createOnce } from './idempotency/once.ts';
import { createEvents } from './messages/list-events.ts';
import { createMessages } from './messages/list-messages.ts';
import { createMessage } from './messages/show-message.ts';
import { createStatus } from './messages/status.ts';
import type { GatewayDeps } from './process/deps.ts';
import { createBalance } from './sms/balance.ts';
import { createCancelSchedule } from './sms/cancel-schedule.ts';
import { createSchedule } from './sms/schedule.ts';
import { createScheduleState } from './sms/schedule-state.ts';
import { createSend } from './sms/send.ts';
import { createSendBulk } from './sms/send-bulk.ts';
import { createTemplates } from './sms/templates.ts';
import { ApprovedTemplates } from './templates/approved-templates.ts';
import { answerError, createUnrouted } from './unanswered.ts';

const MESSAGE_BYTES_MAX = 65_536;
/** 10,000 entries with ten params of 30 characters, three bytes each. */
const BULK_BYTES_MAX = 10_485_760;

/** The whole API: every path, who may use it, and what answers. Builds and never listens. */
export function createApp(deps: GatewayDeps): Express {
  const counter = new RateCounter(deps);
  const addressOf = createCallerAddress(deps.config.trustProxy);
  const unauthorized = createUnauthorized(deps, counter, addressOf);
  const identify = createIdentify(deps, addressOf);
  const authenticate = createAuthenticate(identify, unauthorized);
  const rateLimit = createRateLimit(counter, deps.clock);
  const { notFound, methodNotAllowed, undecodable } = createUnrouted(identify, unauthorized, rateLimit);
  const key = (...scopes: readonly (KeyScope | ScopeSet)[]): Handler[] => [
    authenticate,
    rateLimit,
    requireScope(...scopes.map((scope) => (typeof scope === 'string' ? [scope] : scope))),
  ];
  const once = createOnce(deps);
  const charge = createCharge(counter, deps.clock);
  const reading = { ...deps, answerRead: createDearReads(charge) };
  const { db, clock, config } = deps;
  const limits = { ...DEFAULT_SLOT_LIMITS, var: config.dltVarMax };
  const templates = new ApprovedTemplates({ db, clock, limits, freshMs: config.keyCacheMs });
  const message = jsonBody(MESSAGE_BYTES_MAX);
  const bulk = jsonBody(BULK_BYTES_MAX);
  const chat = createChatSend(deps);
  const guard = { ...guardOptions(config), resolve: deps.resolveHost };
  const webhookUrl = createUrlCheck({ ...guard, withinMs: 2_000, mustResolve: true }, clock);
  const allowHttp = config.chatMediaAllowHttp === 'yes';
  // The provider fetches it, not we: a send need not wait long for what only we think of the host.
  const mediaUrl = createUrlCheck({ ...guard, allowHttp, withinMs: 500, mustResolve: false }, clock);
  const callback = new Callback(deps, unauthorized);
  const docs = createDocs();
  const app = express();
  for (const off of ['x-powered-by', 'etag', 'query parser']) app.disable(off);
  for (const exact of ['case sensitive routing', 'strict routing']) app.enable(exact);

  app.use(begin(deps));

  // The busiest first: the router tries them in order.
  post('/v2/send', ...key('send'), message, once(createSend({ ...deps, templates })));
  get('/v2/status/:message_id', ...key('read'), createStatus(deps));
  post('/v2/send-bulk', ...key('send'), bulk, once(createSendBulk({ ...deps, templates })));
  post('/v2/schedule', ...key('send'), bulk, once(createSchedule({ ...deps, templates })));
  app
    .route('/v2/schedule/:schedule_id')
    .get(...key('read'), createScheduleState(deps))
    .delete(...key('send'), createCancelSchedule(deps))
    .all(methodNotAllowed('GET, HEAD, DELETE'));
  get('/v2/balance', ...key('read'), createBalance(deps));
  get('/v2/templates', ...key('read'), createTemplates(reading));

  post('/v2/chatapp/send', ...key('send'), message, once(chat(createSendTemplate(db))));
  post('/v2/chatapp/send-text', ...key('send'), message, once(chat(createSendText())));
  post('/v2/chatapp/send-media', ...key('send'), message, once(chat(createSendMedia(mediaUrl))));
  post('/v2/chatapp/send-buttons', ...key('send'), message, once(chat(createSendButtons())));
  get('/v2/chatapp/templates', ...key('read'), createChatTemplates(reading));
  // What is posted there are customers' messages too: to read them, or to settle such things, is what the key is for.
  post('/v2/chatapp/webhook', ...key(['send', 'read'], 'manage'), message, once(createChatWebhook(deps, webhookUrl)));

  get('/v2/messages', ...key('read'), createMessages(reading));
  get('/v2/messages/:message_id', ...key('read'), createMessage(reading));
  get('/v2/events', ...key('read'), createEvents(reading));
  get('/v2/ledger', ...key('read'), createLedger(reading));

  app
    .route('/v2/batches/:batch_id')
    .get(...key('read'), createBatch(reading))
    .delete(...key('send'), createStopBatch({ ...deps, charge }))
    .all(methodNotAllowed('GET, HEAD, DELETE'));

  // By the provider, whose key is its signature.
  app
    .route('/chatapp/callback/:callback')
    .get((req, res: Reply) => callback.verify(req, res))
    .post((req, res: Reply) => callback.receive(req, res))
    .all(methodNotAllowed('GET, HEAD, POST'));

  get('/healthz', createHealthz());
  get('/readyz', createReadyz(deps));
  get('/docs', docs.page);
  get('/openapi.json', docs.openapi);

  app.use(notFound);
  app.use(undecodable);
  app.use(answerError(deps.log));
  return app;

  function post(path: string, ...handlers: Handler[]): void {
    app
      .route(path)
      .post(...handlers)
      .all(methodNotAllowed('POST'));
  }
  function get(path: string, ...handlers: Handler[]): void {
    app
      .route(path)
      .get(...handlers)
      .all(methodNotAllowed('GET, HEAD'));
  }
}
