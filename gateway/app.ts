import express, { type Express } from 'express';
import { ENDPOINTS } from './endpoints/list.ts';
import { begin } from './http/begin.ts';
import type { GatewayDeps } from './process/deps.ts';
import { routeAccount } from './routes/account.ts';
import { routeAdmin } from './routes/admin.ts';
import { routeBatches } from './routes/batches.ts';
import { routeChatapp } from './routes/chatapp.ts';
import { routeLive } from './routes/live.ts';
import { mount } from './routes/mount.ts';
import { routeOpen } from './routes/open.ts';
import { routeOverview } from './routes/overview.ts';
import { createParts } from './routes/parts.ts';
import { registerOn } from './routes/route.ts';
import { routeSms } from './routes/sms.ts';
import { routeTemplates } from './routes/templates.ts';
import { answerError } from './routes/unanswered.ts';

/** The whole API. `routes/` says every path, who may use it, and which handler answers. Builds the app and does not listen. */
export function createApp(deps: GatewayDeps): Express {
  const app = express();
  for (const off of ['x-powered-by', 'etag', 'query parser']) app.disable(off);
  for (const exact of ['case sensitive routing', 'strict routing']) app.enable(exact);
  const parts = createParts(deps);
  const { notFound, methodNotAllowed, undecodable } = parts.unrouted;
  const on = registerOn(app, methodNotAllowed);

  app.use(begin(deps));
  // The busiest routes come first, because the router tries them in order.
  routeSms(on, deps, parts);
  routeChatapp(on, deps, parts);
  routeAccount(on, deps, parts);
  routeBatches(on, deps, parts);
  routeLive(on, deps, parts);
  routeOverview(on, parts);
  routeTemplates(on, deps, parts);
  mount(app, ENDPOINTS, { ...deps, ...parts });
  routeAdmin(on, deps, parts);
  routeOpen(on, deps, parts);
  app.use(notFound);
  app.use(undecodable);
  app.use(answerError(deps.log));
  return app;
}
